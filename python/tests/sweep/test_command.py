"""`tangere sweep`, and the experiments of the papers as sweeps."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import digest
from tangere import InputError, _core, sweep
from tangere.sweep import papers

TASK = """
from tangere import sweep

@sweep.task
def area(width, height, seed, scale=1):
    if width == 13:
        raise ValueError("unlucky")
    return {"area": scale * width * height}
"""


@pytest.fixture
def tangere(tmp_path):
    (tmp_path / "areas.py").write_text(TASK)

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "tangere", *map(str, arguments)], capture_output=True, text=True,
                              timeout=100, cwd=tmp_path)  # fmt: skip

    return run


def test_a_sweep_from_the_shell(tangere, tmp_path):
    made = tangere("sweep", "run", "out", "--function", "areas.py:area", "--grid", "width=1,2,3", "--grid",
                   "height=0.5,1.5", "--seeds", "10", "--chunk", "7", "--option", "scale=10", "--workers", "2")  # fmt: skip
    assert made.returncode == 0 and "9 of 9 chunks done (60 of 60 rows" in made.stdout, made.stderr
    assert "rows/s" in made.stderr  # progress
    status = json.loads(tangere("sweep", "status", "out", "--json", "--verify").stdout)
    assert status["done"] == 9 and status["pending"] == 0 and status["torn_chunks"] == []
    assert tangere("sweep", "table", "out").returncode == 0
    table = pq.read_table(tmp_path / "out" / "table.parquet")
    assert table.column("area").to_pylist()[10] == 15.0 and table.num_rows == 60
    assert tangere("sweep", "table", "out", "-o", "t.csv").returncode == 0
    assert (tmp_path / "t.csv").read_text().splitlines()[0] == '"row","width","height","seed","area"'
    (tmp_path / "out" / "receipts" / "00000004.json").unlink()
    assert "9 of 9" in tangere("sweep", "resume", "out", "--quiet").stdout
    assert "9 of 9" in tangere("sweep", "run", "out", "--quiet").stdout
    # the same in two parts
    for k in (0, 1):
        tangere("sweep", "run", "parts", "--function", "areas.py:area", "--grid", "width=1,2,3", "--grid",
                "height=0.5,1.5", "--seeds", "10", "--chunk", "7", "--option", "scale=10", "--task", f"{k}/2")  # fmt: skip
    assert digest(sweep.open(tmp_path / "parts")) == digest(sweep.open(tmp_path / "out"))


def test_chunks_that_fail_are_exit_code_3(tangere):
    done = tangere("sweep", "run", "out", "--function", "areas.py:area", "--grid", "width=1,13", "--grid", "height=1",
                   "--seeds", "1", "--chunk", "1", "--quiet")  # fmt: skip
    assert done.returncode == 3 and "row 1 " in done.stderr and "ValueError: unlucky" in done.stderr
    assert tangere("sweep", "status", "out").returncode == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "out"], "out: is not the folder of a sweep"),
        (["run", "out", "--function", "areas.py"], "--function: must be FILE.py:NAME"),
        (["run", "out", "--function", "nowhere.py:f", "--seeds", "1"], "there is no file nowhere.py"),
        (["run", "out", "--function", "areas.py:volume", "--seeds", "1"], "has no function volume"),
        (["run", "out", "--function", "areas.py:area"], "must say what the rows are"),
        (["run", "out", "--function", "areas.py:area", "--grid", "width"], "--grid: must be NAME=VALUE"),
        (["run", "out", "--function", "areas.py:area", "--seeds", "2"], "area needs the argument 'height'"),
        (["run", "out", "--seeds", "2"], "--function: must say what"),
        (["status", "nowhere"], "nowhere: is not the folder of a sweep"),
        (["resume", "nowhere"], "nowhere: is not the folder of a sweep"),
        (["run", "out", "--engine", "mpi", "--function", "areas.py:area", "--seeds", "2"], "engine: must be"),
        (["run", "out", "--address", "a:1", "--function", "areas.py:area", "--seeds", "2"], "--address: belongs"),
    ],
)
def test_bad_commands_are_told(arguments, says, tangere):
    done = tangere("sweep", *arguments)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_the_drop_test_of_the_paper(tangere, tmp_path):
    done = tangere("experiment", "silico_drop", "--engine", "local", "--runs", "3", "--output", "drop", "--quiet", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["met"] and found["all"]["runs"] == 108 and len(found["cells"]) == 36
    assert found["cells"][0]["frequency"] == 10.0 and found["cells"][0]["kappa"] == 1e-3
    table = sweep.open(tmp_path / "drop").table()
    assert len(set(table.column("seed").to_pylist())) == 3  # the same draws in every cell, as the paper's
    assert 8.0 < found["all"]["mean_iterations"] < 12.0


def test_the_stack_test_of_the_paper(tangere, tmp_path):
    done = tangere("experiment", "silico_stack", "--engine=local", "--runs", "10", "--output", "stack", "--quiet", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["met"] and found["all"]["stable"] == 360
    # the paper's record at 100 Hz, 1e-3
    cell = next(c for c in found["cells"] if c["frequency"] == 100.0 and c["rho"] == 1e-3)
    assert cell["linear"] <= 1.05 * 6.2e-2


def test_the_experiments_in_space(tmp_path):
    wish = papers.Wish(runs=1, path=True)
    run = papers.run("silico_drop_3d", tmp_path / "shapes", wish, workers=2)
    assert run.status.rows == 96 and papers.summary(run)["met"] and not run.failed
    path = np.array(run.table().column("path")[0].as_py())
    assert path.shape == (16, 13)  # 1.5 s at 10 Hz, and the start
    two = papers.run("silico_drop_two", tmp_path / "two", papers.Wish(runs=1), workers=2)
    assert papers.summary(two)["met"] and "claim met" in papers.text(two)


def test_a_run_is_the_same_wherever_it_is_made():
    once = _core._silico_drop(50.0, 1e-6, 7, True)
    again = _core._silico_drop(50.0, 1e-6, 7, True)
    assert np.array_equal(once["path"], again["path"]) and once["steps"] == 75 and once["path"].shape == (76, 6)
    assert not np.array_equal(once["path"], _core._silico_drop(50.0, 1e-6, 8, True)["path"])
    for wrong in ((0.0, 1e-6), (float("nan"), 1e-6), (50.0, 0.0), (50.0, 2.0)):
        with pytest.raises(InputError):
            _core._silico_drop(*wrong, 1)
    with pytest.raises(InputError, match="kind"):
        _core._silico_drop_3d(8, 50.0, 1e-6, 1)


def test_the_papers_runs_are_those_of_the_command(tangere, tmp_path):
    """The same cells by the C++ experiment: the stack has no random number, so it is the same but for rounding."""
    command = tmp_path / "command"
    done = tangere("experiment", "silico_stack", "--runs", "2", "--json", "--output", command)
    if "built without the command" in done.stderr:
        pytest.skip("no command beside this package")
    cells = {(c["frequency"], c["kappa"]): c["result"] for c in json.loads(done.stdout)["silico_stack"]["result"]["cells"]}
    for (frequency, rho), result in cells.items():
        runs = [_core._silico_stack(frequency, rho, 0.02 * k) for k in (1, 2)]
        assert result["linear"] == pytest.approx(np.mean([r["linear"] for r in runs]), rel=1e-9)
        assert result["stable"] == sum(r["stable"] for r in runs)


def test_wrong_experiments_are_told(tangere):
    for arguments, says in ((["nimble_balls", "--engine", "local"], "must be an experiment that is a sweep (silico_drop"),
                            (["silico_drop", "--engine", "local", "--runs", "0"], "--runs: must be at least 1")):  # fmt: skip
        done = tangere("experiment", *arguments)
        assert done.returncode == 2 and says in done.stderr


def test_optimisations_from_a_table_of_starts(tmp_path):
    noisy = sweep.optimize("cartpole", 6, tmp_path / "noisy", workers=2)
    table = noisy.table()
    assert table.column("status").to_pylist() == ["solved"] * 6 and not noisy.failed
    starts = np.array(table.column("start").to_pylist())
    assert starts.shape == (6, 4) and np.ptp(starts, axis=0).min() > 1e-3
    x, u = np.array(table.column("x")[0].as_py()), np.array(table.column("u")[0].as_py())
    assert len(x) == len(u) + 1 and np.array_equal(x[0], starts[0])
    assert max(table.column("goal_error").to_pylist()) < 2e-3
    # given starts, without noise
    given = [{"q": [1.0, 1.0], "v": [0.0, 0.0]}, {"q": [0.5, 0.9], "v": [0.0, 0.1]}]
    exact = sweep.optimize("cartpole", given, tmp_path / "exact", workers=1, plans=False).table()
    assert exact.column("start").to_pylist() == [[1.0, 1.0, 0.0, 0.0], [0.5, 0.9, 0.0, 0.1]]
    assert "x" not in exact.column_names
    # one worker or two: the same bytes
    assert digest(sweep.optimize("cartpole", 6, tmp_path / "one", workers=1)) == digest(noisy)


def test_wrong_optimisations_are_told(tmp_path):
    with pytest.raises(InputError, match="no file and no problem 'kartpole'; there are .*cartpole"):
        sweep.optimize("kartpole", 2, tmp_path / "s")
    with pytest.raises(InputError, match="starts: has the column 'angle'"):
        sweep.optimize("cartpole", [{"angle": 1.0}], tmp_path / "s")
    run = sweep.optimize("cartpole", [{"q": [1.0]}], tmp_path / "s", workers=1)
    assert "q: must have 2 numbers" in run.failed[0].error


PAGE = Path(__file__).parents[3] / "docs" / "sweeps.md"


def test_the_page_says_what_is_true(tangere, tmp_path):
    if not PAGE.is_file():
        pytest.skip("no docs beside the tests")
    page = PAGE.read_text()
    (tmp_path / "swings.py").write_text(page.partition("```python\n")[2].partition("```")[0])
    first = subprocess.run([sys.executable, "swings.py"], capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert first.returncode == 0 and "'swing_mean'" in first.stdout, first.stderr
    lines = [line.split("#")[0] for line in page.splitlines() if line.startswith("    tangere sweep ")]
    commands = [c.split("[")[0].split() for line in lines for c in line.strip().split("tangere ")[1:]]
    assert len(commands) == 5
    for command in commands:
        arguments = ["--engine local" if a == "ray" else a for a in command]
        arguments = [a for a in " ".join(arguments).replace("--engine --engine", "--engine").split()]
        done = tangere(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
    assert (tmp_path / "set" / "meta" / "info.json").is_file() and (tmp_path / "swings.parquet").is_file()
