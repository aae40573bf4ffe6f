"""The lines that the README shows."""

import tangere as tg


def test_eight_lines(capsys):
    world = tg.load("humanoid.xml", time_step=0.01)
    x = world.default_state()
    for _ in range(60):
        x = world.step(x, u=0)
    A, B = world.jacobians(x, u=0)
    print(world.contacts(x))
    gradient = world.gradient("right_foot.right_foot.friction", x)
    page = tg.show(world, x, browser=False)
    assert A.shape == (2 * world.nv, 2 * world.nv) and B.shape == (2 * world.nv, world.nu)
    assert gradient.shape == (2 * world.nv,)
    assert '"format"' in page.recording
    assert "Contact(" in capsys.readouterr().out
