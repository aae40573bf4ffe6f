"""A bar for long work: that of tqdm where it is installed, else a line on the terminal."""

from __future__ import annotations

import sys
import time
from typing import Any


class Iterations:
    """Shows the iterations of an optimiser."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.shown = 0.0
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self.bar = tqdm(unit=" iterations")

    def __call__(self, iteration: Any) -> None:
        violation = max(iteration.defect, iteration.equality, iteration.inequality)
        if self.bar is not None:
            self.bar.update()
            self.bar.set_postfix(cost=f"{iteration.cost:.4g}", violation=f"{violation:.1e}", refresh=False)
        elif sys.stderr.isatty() and time.monotonic() - self.shown > 0.1:
            self.shown = time.monotonic()
            text = f"{iteration.iteration:4d}  cost {iteration.cost:.4g}  violation {violation:.1e}"
            print(f"\r{text:60}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Ends the line."""
        if self.bar is not None:
            self.bar.close()
        elif self.shown:
            print(file=sys.stderr)
