"""The viewer in a notebook cell or in the browser."""

from __future__ import annotations

import html
import os
import tempfile
import webbrowser
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    from ._core import State, World


def _viewer_page() -> str:
    """The viewer, as the build made it."""
    places = [Path(__file__).parent / "share" / "tangere" / "viewer.html"]
    if "TANGERE_VIEWER" in os.environ:
        places.insert(0, Path(os.environ["TANGERE_VIEWER"]))
    for place in places:
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise _core.InputError(
        "viewer",
        "this package was built without it: install nodejs (18 or newer) and npm, then build again; "
        f"looked for {', '.join(map(str, places))}",
    )


class Page:
    """A page of the viewer with a recording inside: shows itself in a notebook, and can be saved."""

    def __init__(self, recording: str, height: int = 480) -> None:
        self.recording = recording
        self.height = height

    def html(self) -> str:
        """The whole page: one file that plays in any browser, without a network."""
        return _core.recording_page(_viewer_page(), self.recording)

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the page; answers with its path."""
        path = Path(file)
        path.write_text(self.html(), encoding="utf-8")
        return path

    def open(self) -> Path:
        """Writes the page to a temporary file and opens the browser."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="tangere-", delete=False, encoding="utf-8") as file:
            file.write(self.html())
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)

    def _repr_html_(self) -> str:
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: {self.height}px; border: 0"></iframe>'


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def show(
    world: World,
    states: State | Iterable[State],
    *,
    browser: bool | None = None,
    contacts: bool = True,
    frames_per_second: float = 60.0,
    height: int = 480,
) -> Page:
    """Shows a state, or a trajectory of states one time step apart.

    In a notebook the page is the cell's output; elsewhere it opens in the browser. `browser` says so explicitly.
    """
    if isinstance(states, _core.State):
        states = [states]
    page = Page(
        _core.recording(world, list(states), contacts=contacts, frames_per_second=frames_per_second), height
    )
    if browser is None:
        browser = not _in_notebook() and bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if browser:
        page.open()
    return page
