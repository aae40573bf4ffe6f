#!/usr/bin/env python3
"""Check the layout of the source tree: include arrows, rooms, doors, #pragma once.

    check_layers.py [ROOT]

Dependencies point one way (docs/architecture.md). Every `#include "tangere/<module>/..."` of tangere/, apps/ and python/
must name a module that the including one is allowed to see. A header below an `internal/` folder is for its own
module alone. A header that is installed (tangere/public_headers.txt) includes installed headers only. Sources that a page of docs/ names exist. Exit
code 1 and one line per finding otherwise.
"""

import re
import sys
from pathlib import Path

# What each module may include besides itself. `version.hpp` belongs to no module and is open to all.
DIRECT = {
    "math": [],
    "solvers": ["math"],
    "geometry": ["math"],
    "proximity": ["solvers", "geometry"],
    "multibody": ["math", "geometry"],
    "contact": ["proximity", "multibody", "solvers"],
    "sim": ["contact"],
    "trajopt": ["sim"],
    "io": ["trajopt"],
    "apps": ["io"],
    "python": ["io"],
}
SUFFIXES = {".hpp", ".cpp", ".h", ".cc"}
PUBLIC_HEADERS = Path("tangere/public_headers.txt")
PRIVATE_REMARK = re.compile(r"private to", re.IGNORECASE)
SOURCE_IN_PAGE = re.compile(r"`([a-z_0-9]+(?:/[a-z_0-9]+)+\.(?:hpp|cpp))`")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def allowed(module):
    """The module itself and all it may see, directly or through others."""
    seen = {module}
    for below in DIRECT[module]:
        seen |= allowed(below)
    return seen


def module_of(parts):
    """The module a path inside the repository belongs to; None for files outside every module."""
    if parts[0] == "tangere":
        return parts[1] if len(parts) > 2 else None
    return parts[0]


def public_headers(root):
    """The installed headers, as they are written in #include lines; None where the tree has no such list."""
    path = root / PUBLIC_HEADERS
    if not path.exists():
        return None
    return {"tangere/" + line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()}


def check_public_headers(root, public):
    """Every listed header exists, and includes nothing that is not installed with it."""
    generated = {"tangere/version.hpp"}
    for name in sorted(public):
        if not (root / name).exists():
            yield f"{PUBLIC_HEADERS}: there is no {name}"
            continue
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            if match and match.group(1).startswith("tangere/") and match.group(1) not in public | generated:
                yield f"{name}:{number}: an installed header must not include {match.group(1)}, which is not installed"


def check_page(root, path):
    """Sources in backticks are paths below the root, tangere/, a module of it, or tests/."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        for name in SOURCE_IN_PAGE.findall(line):
            places = [root / name, root / "tangere" / name, root / "tests" / name]
            places += (root / "tangere").glob(f"*/{name}")
            if not any(place.exists() for place in places):
                yield f"{path.relative_to(root)}:{number}: there is no {name}"


def check_file(path, relative):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    module = module_of(relative.parts)
    if module is not None and module not in DIRECT:
        yield f"{relative}: unknown module '{module}' (known: {', '.join(DIRECT)})"
        return
    if path.suffix in {".hpp", ".h"} and not any(line.strip() == "#pragma once" for line in lines):
        yield f"{relative}: header without #pragma once"
    if path.suffix in {".hpp", ".h"} and "internal" not in relative.parts and PRIVATE_REMARK.search(text):
        yield f"{relative}: a header that calls itself private belongs below internal/"
    for number, line in enumerate(lines, start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = Path(match.group(1)).parts
        if target[0] not in {"tangere", "apps", "python"}:
            continue
        target_module = module_of(target)
        if target_module is None or module is None:
            continue
        if "internal" in target and target_module != module:
            yield f"{relative}:{number}: {match.group(1)} is internal to {target_module}"
        if target_module not in allowed(module):
            yield f"{relative}:{number}: {module} must not include {match.group(1)}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    num_files = 0
    findings = []
    for folder in ("tangere", "apps", "python"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and "node_modules" not in path.parts:
                num_files += 1
                findings += check_file(path, path.relative_to(root))
    public = public_headers(root)
    if public is not None:
        findings += check_public_headers(root, public)
    for page in sorted((root / "docs").rglob("*.md")):
        findings += check_page(root, page)
    if num_files == 0:
        findings.append(f"no sources found under {root}")
    for finding in findings:
        print(finding)
    print(f"layers: {num_files} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
