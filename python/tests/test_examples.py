"""The programs of examples/: each runs, and says what the same one in C++ says.

TANGERE_EXAMPLES: the folder of the programs in C++, from the same build; ctest sets it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENES = EXAMPLES.parent / "scenes"
PROGRAMS = sorted(EXAMPLES.glob("[0-9]*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_example(program, tmp_path):
    recording = tmp_path / "recording.json"
    ours = subprocess.run([sys.executable, program, recording], capture_output=True, text=True, timeout=300)
    assert ours.returncode == 0, ours.stderr
    assert '"tangere-recording"' in recording.read_text(encoding="utf-8")[:200]
    folder = os.environ.get("TANGERE_EXAMPLES")
    if folder is None:
        return
    theirs = subprocess.run(
        [Path(folder) / f"example_{program.stem}", recording, SCENES], capture_output=True, text=True, timeout=300
    )
    assert theirs.returncode == 0, theirs.stderr
    assert ours.stdout == theirs.stdout


def test_every_program_has_one_of_the_same_name_in_cpp():
    assert {p.stem for p in PROGRAMS} <= {p.stem for p in EXAMPLES.glob("*.cpp")} and len(PROGRAMS) >= 7
