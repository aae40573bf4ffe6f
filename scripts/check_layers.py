#!/usr/bin/env python3
"""Check the layout of the source tree: include arrows, #pragma once, file length.

    check_layers.py [ROOT]

Dependencies point one way (docs/architecture.md). Every `#include "tangere/<module>/..."` of tangere/, apps/ and python/
must name a module that the including one is allowed to see. Exit code 1 and one line per finding otherwise.
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
MAX_LINES = 600
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


def check_file(path, relative):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    module = module_of(relative.parts)
    if module is not None and module not in DIRECT:
        yield f"{relative}: unknown module '{module}' (known: {', '.join(DIRECT)})"
        return
    if path.suffix in {".hpp", ".h"} and not any(line.strip() == "#pragma once" for line in lines):
        yield f"{relative}: header without #pragma once"
    if len(lines) > MAX_LINES:
        yield f"{relative}: {len(lines)} lines, more than {MAX_LINES}"
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
    if num_files == 0:
        findings.append(f"no sources found under {root}")
    for finding in findings:
        print(finding)
    print(f"layers: {num_files} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
