"""`python -m tangere ...` is the command `tangere ...`; sweeps are of Python, so they are run here."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def main() -> int:
    """Runs a sweep, or the command that came with the package, or the one on the path."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["sweep"]:
        from .sweep.command import main as sweep

        return sweep(arguments[1:])
    if arguments[:1] == ["experiment"] and any(a.split("=")[0] == "--engine" for a in arguments):
        from .sweep.command import experiment_main

        return experiment_main(arguments[1:])
    command = Path(__file__).parent / "bin" / "tangere"
    found = str(command) if command.is_file() else shutil.which("tangere")
    if found is None or Path(found).resolve() == Path(sys.argv[0]).resolve():
        print("tangere: this package was built without the command (TANGERE_BUILD_CLI)", file=sys.stderr)
        return 2
    sys.stdout.flush()
    os.execv(found, ["tangere", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
