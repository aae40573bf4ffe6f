"""Chooses the extension module that this machine runs fastest.

Wheels hold one build each for x86-64-v4 (AVX-512), v3 (AVX2) and v2 beside each other, as `_v4/_core...so` and so on;
other builds have one `_core...so` here. TANGERE_VARIANT=v2 forces one.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

# What a level adds to the one below it, as /proc/cpuinfo calls it.
_FLAGS = {
    "v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
    "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def _machine_flags() -> set[str]:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    except OSError:
        pass
    return set()


def levels() -> list[str]:
    """The levels that this machine has, the best first; v2 always."""
    flags = _machine_flags()
    out = ["v2"]
    for level in ("v3", "v4"):
        if not _FLAGS[level] <= flags:
            break
        out.insert(0, level)
    return out


def _load() -> str:
    """Loads the module as `tangere._core`; says which build it is."""
    name = "tangere._core"
    if name in sys.modules:
        return getattr(sys.modules[name], "_variant", "native")
    folder = Path(__file__).parent
    asked = os.environ.get("TANGERE_VARIANT")
    for level in [asked] if asked else levels():
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            file = folder / f"_{level}" / f"_core{suffix}"
            if not file.is_file():
                continue
            loader = importlib.machinery.ExtensionFileLoader(name, str(file))
            spec = importlib.util.spec_from_file_location(name, str(file), loader=loader)
            assert spec is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            loader.exec_module(module)
            sys.modules["tangere"].__dict__["_core"] = module
            return level
    return "native"


variant = _load()
