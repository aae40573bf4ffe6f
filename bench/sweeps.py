"""The costs of sweeps: chunks that only wait (efficiency), chunks that do nothing (overhead), drops, reading, merging.

    PYTHONPATH=build/release/python build/venv/bin/python bench/sweeps.py [efficiency|overhead|drops|table|ray][=N] ...

Prints a line of JSON per measurement, with the load of the machine at its start.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tangere import sweep
from tangere.sweep import papers


@sweep.task
def wait(index, seconds):
    """Time that passes, whatever else the machine does."""
    time.sleep(seconds) if seconds else None
    return {"value": 0.5 * index}


@sweep.task(batch=True)
def as_drops(rows, rng):
    """Columns like those of the drop test, without the drops: for tables of a million rows."""
    count = len(rows["seed"])
    steps = (1.5 * rows["frequency"]).astype(int)
    return {"steps": steps, "islands": steps, "iterations": rng.integers(8, 14, count) * steps,
            "second_tries": rng.integers(0, 2, count), "failures": rng.integers(0, 2, count),
            "violation": rng.random(count)}  # fmt: skip


def say(name, **numbers):
    print(json.dumps({"measurement": name, **numbers}), flush=True)


def measure(folder, chunks, seconds, engine):
    """A sweep of one row a chunk."""
    start = time.perf_counter()
    run = sweep.run(wait, chunks, folder, chunk=1, options={"seconds": seconds}, engine=engine)
    wall = time.perf_counter() - start
    assert run.status.done == chunks
    return run, wall


def efficiency(folder, workers=2, chunks=10_000, seconds=0.01, ray=False):
    engine = sweep.Ray(workers=workers) if ray else sweep.Local(workers)
    load = os.getloadavg()[0]
    first, steady = [], []
    start = time.perf_counter()

    def watch(progress):
        if progress.chunks_done and not first:
            first.append((time.perf_counter(), progress.chunks_done))
        steady.append((time.perf_counter(), progress.chunks_done))

    sweep.run(wait, chunks, folder, chunk=1, options={"seconds": seconds}, engine=engine, progress=watch)
    wall = time.perf_counter() - start
    rate = (steady[-1][1] - first[0][1]) / (steady[-1][0] - first[0][0])
    say("efficiency", engine="ray" if ray else "local", workers=workers, chunks=chunks, chunk_seconds=seconds, wall=wall,
        load=load, efficiency_with_start=chunks * seconds / workers / wall, chunks_per_second=rate,
        efficiency=rate * seconds / workers, overhead_ms_per_chunk=1e3 * (workers / rate - seconds))  # fmt: skip


def overhead(folder, workers=2, chunks=5_000):
    load = os.getloadavg()[0]
    _, nothing = measure(folder / "few", 1, 0.0, sweep.Local(workers))
    run, wall = measure(folder / "many", chunks, 0.0, sweep.Local(workers))
    say("overhead", workers=workers, chunks=chunks, load=load, start_seconds=nothing,
        ms_per_chunk_and_worker=1e3 * workers * (wall - nothing) / chunks)  # fmt: skip
    start = time.perf_counter()
    _ = run.status
    status = time.perf_counter() - start
    start = time.perf_counter()
    run.resume()
    resume = time.perf_counter() - start
    start = time.perf_counter()
    run.merge()
    say("folder", chunks=chunks, load=load, status_ms_per_chunk=1e3 * status / chunks,
        resume_ms_per_chunk=1e3 * resume / chunks, merge_ms_per_chunk=1e3 * (time.perf_counter() - start) / chunks)  # fmt: skip


def drops(folder, runs=1000):
    """The paper's drop test, and reading its table."""
    load = os.getloadavg()[0]
    start = time.perf_counter()
    run = papers.run("silico_drop", folder, papers.Wish(runs=runs, chunk=500))
    wall = time.perf_counter() - start
    found = papers.summary(run)
    say("drops", drops=36 * runs, wall=wall, load=load, drops_per_second=36 * runs / wall, met=found["met"],
        failed_runs=found["all"]["failed_run"], unsolved_steps=found["all"]["failures"], steps=found["all"]["steps"],
        mean_iterations=found["all"]["mean_iterations"], seconds_of_workers=run.status.seconds)  # fmt: skip


def table(folder, rows=1_000_000):
    """As many rows with the columns of the drop test: making, merging and reading them."""
    load = os.getloadavg()[0]
    start = time.perf_counter()
    cells = sweep.grid(frequency=papers.FREQUENCIES, kappa=papers.RELAXATIONS)
    run = sweep.run(as_drops, cells * sweep.seeds(rows // 36 + 1), folder, chunk=5000)
    wall = time.perf_counter() - start
    start = time.perf_counter()
    file = run.merge()
    merge = time.perf_counter() - start
    import pandas

    start = time.perf_counter()
    frame = pandas.read_parquet(file)
    means = frame.groupby(["frequency", "kappa"])["iterations"].mean()
    read = time.perf_counter() - start
    assert len(frame) == run.status.rows and len(means) == 36
    numbers = {}
    try:
        import duckdb

        start = time.perf_counter()
        duckdb.sql(f"select frequency, kappa, avg(iterations) from '{file}' group by all").fetchall()
        numbers["duckdb_seconds"] = time.perf_counter() - start
    except ImportError:
        pass
    say("table", rows=len(frame), wall=wall, load=load, merge_seconds=merge, bytes=file.stat().st_size,
        pandas_seconds=read, **numbers)  # fmt: skip


def main(wanted):
    folder = Path(tempfile.mkdtemp(prefix="sweeps-", dir=os.environ.get("TANGERE_BENCH_FOLDER")))
    try:
        for name in wanted:
            kind, _, number = name.partition("=")
            more = {{"drops": "runs", "table": "rows"}.get(kind, "chunks"): int(number)} if number else {}
            if kind == "ray":
                efficiency(folder / name, ray=True, **more)
            else:
                {"efficiency": efficiency, "overhead": overhead, "drops": drops, "table": table}[kind](folder / name, **more)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:] or ["efficiency", "overhead", "drops=100", "table", "ray=2000"])
