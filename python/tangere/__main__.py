"""`python -m tangere ...` is the command `tangere ...`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def main() -> int:
    """Runs the command that came with the package, or the one on the path."""
    command = Path(__file__).parent / "bin" / "tangere"
    found = str(command) if command.is_file() else shutil.which("tangere")
    if found is None or Path(found).resolve() == Path(sys.argv[0]).resolve():
        print("tangere: this package was built without the command (TANGERE_BUILD_CLI)", file=sys.stderr)
        return 2
    sys.stdout.flush()
    os.execv(found, ["tangere", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
