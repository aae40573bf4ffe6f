"""The notebooks of examples/notebooks run from their first cell to the last."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def test_there_are_five():
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook(notebook, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {}
    for i, cell in enumerate(code):
        exec(compile(cell, f"{notebook.name}, code cell {i + 1}", "exec"), names)
    assert len(code) >= 4
