"""The lines that the README shows."""

import re
from pathlib import Path

import numpy as np

import tangere as tg

README = Path(__file__).parents[2] / "README.md"


def test_the_lines_of_the_readme(capsys, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    lines = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL).group(1)
    names = {}
    exec(compile(lines, str(README), "exec"), names)
    world, x, A, B = (names[n] for n in ("world", "x", "A", "B"))
    assert A.shape == (2 * world.nv, 2 * world.nv) and B.shape == (2 * world.nv, world.nu)
    assert "Contact(" in capsys.readouterr().out
    # the gradient in the friction is that of differences
    name, h = "right_foot.right_foot.friction", 1e-6
    value = world.parameters([name])[0]
    after = [world.with_parameters({name: value + side * h}).step(x).v for side in (1, -1)]
    gradient = world.gradient(name, x)
    assert np.abs(gradient).max() > 0.01
    np.testing.assert_allclose(gradient[world.nv :], (after[0] - after[1]) / (2 * h), atol=1e-5)
    page = tg.show(world, x)
    assert '"format"' in page.recording
