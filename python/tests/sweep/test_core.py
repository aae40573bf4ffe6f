"""The core: tables, seeds, chunks, shards, resuming. No Ray."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sweep_tasks as tasks
from conftest import check_whole, digest, wave
from tangere import InputError, sweep
from tangere.sweep.progress import Progress
from tangere.sweep.seeds import draw


def test_seeds_do_not_depend_on_who_asks():
    whole = draw(5, 0, 1000)
    assert np.array_equal(whole, np.concatenate([draw(5, 0, 1), draw(5, 1, 337), draw(5, 337, 1000)]))
    assert len(set(whole.tolist())) == 1000 and whole.min() >= 0
    assert not set(whole.tolist()) & set(draw(6, 0, 1000).tolist())
    assert np.array_equal(sweep.generator(5, 7).normal(size=3), sweep.generator(5, 7).normal(size=3))
    assert sweep.generator(5, 7).random() != sweep.generator(5, 8).random()


def test_draws_look_random():
    uniform = draw(1, 0, 200_000) / 2.0**63
    assert abs(uniform.mean() - 0.5) < 5 / np.sqrt(12 * 200_000)
    counts, _ = np.histogram(uniform, 100, (0, 1))
    assert 50 < ((counts - 2000.0) ** 2 / 2000.0).sum() < 170  # chi-squared, 99 degrees of freedom
    assert abs(np.corrcoef(uniform[:-1], uniform[1:])[0, 1]) < 5 / np.sqrt(200_000)


def test_tables_know_any_slice():
    table = sweep.grid(a=[1, 2, 3], b=["x", "y"]) * sweep.seeds(5) + sweep.grid(a=[9], b=["z"]) * sweep.seeds(4)
    assert len(table) == 34 and table.columns == ("a", "b", "seed")
    every = list(table)
    assert every[0]["a"] == 1 and every[5]["b"] == "y" and every[-1]["b"] == "z"
    for start, stop in ((0, 34), (3, 4), (28, 33), (30, 34)):
        part = table.slice(start, stop)
        assert [{n: v[k] for n, v in part.items()} for k in range(stop - start)] == every[start:stop]


def test_ten_million_rows_are_a_few_lines():
    table = sweep.grid(a=[1, 2]) * sweep.seeds(5_000_000)
    start = time.monotonic()
    assert len(table.slice(9_999_990, 10_000_000)["seed"]) == 10
    assert time.monotonic() - start < 5.0 and len(json.dumps(table.to_json())) < 300


@pytest.mark.parametrize(
    "source",
    [
        [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
        {"a": [1, 2], "b": ["x", "y"]},
        pa.table({"a": [1, 2], "b": ["x", "y"]}),
    ],
)
def test_tables_of_what_there_is(source):
    assert list(sweep.rows(source)) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_tables_of_files(tmp_path):
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    pq.write_table(table, tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text("a,b\n1,x\n2,y\n")
    assert list(sweep.rows(tmp_path / "rows.parquet")) == list(sweep.rows(str(tmp_path / "rows.csv")))
    assert list(sweep.rows(3)) == [{"index": 0}, {"index": 1}, {"index": 2}]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: sweep.grid(), "at least one column"),
        (lambda: sweep.grid(a=[]), "a: has no value"),
        (lambda: sweep.grid(a="text"), "a: must be a list"),
        (lambda: sweep.grid(a=[float("nan")]), "a: must be finite"),
        (lambda: sweep.grid(row=[1]), "'row' is the index"),
        (lambda: sweep.seeds(0), "count: must be a whole number above 0"),
        (lambda: sweep.grid(a=[1]) * sweep.grid(a=[2]), "both tables of a product have the column 'a'"),
        (lambda: sweep.grid(a=[1]) + sweep.grid(b=[2]), "must have the same columns"),
        (lambda: sweep.rows([]), "at least one row"),
        (lambda: sweep.rows("nowhere.csv"), "there is no file nowhere.csv"),
        (lambda: sweep.rows([{"a": 1}, {"a": "x"}]), "rows: cannot be made a table"),
    ],
)
def test_wrong_tables_are_told(wrong, says):
    with pytest.raises(InputError, match=says):
        wrong()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"task": tasks.naps}, "naps needs the argument 'seconds'"),
        ({"rows": sweep.grid(x=[1], y=[2])}, "crashes needs the argument|has no argument 'y'"),
        ({"task": lambda x: x}, "at its top level"),
        ({"task": 3}, "must be a function"),
        ({"task": len}, "must be in a file"),
        ({"chunk": 0}, "chunk: must be a whole number"),
        ({"seed": -1}, "seed: must be a whole number"),
        ({"engine": "mpi"}, "engine: must be local, ray or slurm, got 'mpi'"),
        ({"workers": 0}, "workers: must be a whole number above 0"),
        ({"options": {"x": 1}}, "options: and the table both have 'x'"),
        ({"options": {"f": len}}, "options: must be numbers"),
        ({"tries": 0}, "tries"),
        ({"share": (3, 3)}, "share"),
    ],
)
def test_wrong_sweeps_are_told_before_anything_runs(arguments, says, tmp_path):
    given = {"task": tasks.mixed, "rows": sweep.grid(x=[1]), "out": tmp_path / "sweep", **arguments}
    with pytest.raises(InputError, match=says):
        sweep.run(given.pop("task"), given.pop("rows"), given.pop("out"), **given)
    assert not (tmp_path / "sweep" / "manifest.json").exists()


@pytest.mark.parametrize("workers", [2, 3])
def test_any_number_of_workers_gives_the_same_bytes(workers, tmp_path, reference):
    check_whole(wave(tmp_path / "sweep", workers=workers), reference)


def test_the_engine_itself_gives_the_same_bytes(tmp_path):
    rows = sweep.grid(height=[1.0, 2.0]) * sweep.seeds(6)
    digests = {digest(sweep.run(tasks.fall, rows, tmp_path / f"{w}", chunk=2, workers=w)) for w in (1, 2)}
    assert len(digests) == 1


def test_columns_keep_what_was_given(tmp_path):
    run = wave(tmp_path / "sweep", chunk=50)
    table = run.table()
    assert table.column_names == ["row", "x", "seed", "y", "count", "name", "path", "flags", "maybe"]
    assert table.schema.field("y").type == pa.float64() and table.schema.field("count").type == pa.int64()
    row = table.slice(7, 1).to_pylist()[0]
    expected = np.random.Generator(np.random.Philox(key=np.array([3, 7], dtype=np.uint64))).normal(size=(3, 2))
    assert np.array_equal(np.array(row["path"]), expected) and row["flags"] == [True, False, True]
    assert row["maybe"] is None and table.slice(5, 1).column("maybe")[0].as_py() == 0.5
    about = json.loads(pq.read_schema(run.merge()).metadata[b"tangere.sweep"])
    assert about["seed"] == 3 and about["task"]["name"] == "wave" and about["code"]["tangere"]
    assert about["options"] == {} and about["chunk"] == 50


def test_types_that_differ_between_chunks_are_joined(tmp_path):
    table = sweep.run(tasks.mixed, sweep.grid(x=range(8)), tmp_path / "sweep", chunk=4).table()
    assert table.column("a").to_pylist() == [0, 1, 2, 3, 4.5, 5.5, 6.5, 7.5]
    assert table.column("b").to_pylist() == [None] * 4 + ["text"] * 4
    assert table.column("c").to_pylist() == [[]] * 4 + [[1.0, 1.0]] * 4


def test_batches(tmp_path):
    run = sweep.run(tasks.doubled, sweep.grid(x=range(10)), tmp_path / "s", chunk=4, options={"factor": 3})
    table = run.table()
    assert table.column("twice").to_pylist() == [3 * x for x in range(10)]
    assert table.column("wide").to_pylist() == [[1.0] * 3] * 10


def test_generated_rows(tmp_path):
    rows = sweep.generate(tasks.start, 10)
    first = sweep.run(tasks.angle_of, rows, tmp_path / "a", chunk=3, seed=1).table()
    other = sweep.run(tasks.angle_of, rows, tmp_path / "b", chunk=3, seed=2).table()
    assert first.column("angle") != other.column("angle") and first.column("index").to_pylist() == list(range(10))
    assert sweep.open(tmp_path / "a").resume().table() == first


def test_rows_of_a_list_are_kept_in_the_folder(tmp_path):
    run = sweep.run(tasks.mixed, [{"x": 5}, {"x": 6}], tmp_path / "s")
    assert len(list((tmp_path / "s").glob("rows-*.parquet"))) == 1
    assert sweep.open(tmp_path / "s").resume().table().column("x").to_pylist() == [5, 6]
    assert run.status.done == 1


def test_a_second_call_computes_nothing(tmp_path, task_log):
    wave(tmp_path / "sweep", workers=2)
    before = len(task_log.read_text().split())
    assert before == 120
    wave(tmp_path / "sweep", workers=2)
    sweep.open(tmp_path / "sweep").resume(workers=2)
    assert len(task_log.read_text().split()) == before


def test_progress_is_monotone_and_its_remaining_time_is_right(tmp_path, monkeypatch):
    monkeypatch.setenv("SWEEP_TEST_NAP", "0.01")
    seen = []
    start = time.monotonic()
    wave(tmp_path / "sweep", workers=2,
         progress=lambda p: seen.append((p.part, p.rows_per_second, p.remaining_seconds)))  # fmt: skip
    parts = [part for part, _, _ in seen]
    assert parts == sorted(parts) and parts[0] == 0.0 and parts[-1] == 1.0 and len(parts) > 10
    assert all(rate > 0 for _, rate, left in seen if left is not None)
    assert 480 / seen[-1][1] <= time.monotonic() - start


def test_remaining_time_is_exact_for_even_chunks():
    progress = Progress(chunks=100, rows=1000, chunks_before=20, rows_before=200, start=50.0)
    assert progress.remaining_seconds is None and progress.part == 0.2
    for k in range(40):
        progress.add(10, False, 50.0 + 0.5 * (k + 1))
    assert progress.part == 0.6 and progress.rows_per_second == 20.0 and progress.remaining_seconds == 20.0
    assert str(progress) == "60 of 100 chunks (60 %), 20 rows/s, 20 s left"


def test_an_unguarded_script_is_told(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from tangere import sweep\n"
        "def f(x):\n    return x\n"
        f"sweep.run(f, sweep.grid(x=[1]), {str(tmp_path / 'sweep')!r}, workers=1)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "__main__" in done.stderr


def test_a_script_is_its_own_task(tmp_path):
    script = tmp_path / "guarded.py"
    script.write_text(
        "from tangere import sweep\n"
        "def f(x):\n    return {'y': 2 * x}\n"
        "if __name__ == '__main__':\n"
        f"    print(sweep.run(f, sweep.grid(x=[1, 2]), {str(tmp_path / 'sweep')!r}).table().column('y').to_pylist())\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[2, 4]", done.stderr
    # and from elsewhere, by the folder alone
    command = [sys.executable, "-c", f"from tangere import sweep; print(sweep.open({str(tmp_path / 'sweep')!r}).resume())"]
    again = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")
    assert "1 of 1 chunks done" in again.stdout, again.stderr


def test_the_slurm_script_does_all_of_it(tmp_path, reference):
    run = wave(tmp_path / "sweep", engine=sweep.Slurm(tasks=3, options=("--partition=short",)))
    script = tmp_path / "sweep" / "slurm.sh"
    text = script.read_text()
    assert "#SBATCH --array=0-2" in text and "#SBATCH --partition=short" in text and run.status.done == 0
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    # two of them beside each other, as a cluster does
    jobs = [subprocess.Popen(["bash", script], env={**environment, "SLURM_ARRAY_TASK_ID": str(k)}) for k in (0, 1)]
    assert [job.wait(60) for job in jobs] == [0, 0]
    assert run.status.done == 80
    subprocess.run(["bash", script], env={**environment, "SLURM_ARRAY_TASK_ID": "2"}, check=True, timeout=60)
    check_whole(run, reference)
