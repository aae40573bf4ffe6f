"""Faults: each is told clearly, the rest is finished, nothing is overwritten."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import sweep_tasks as tasks
from conftest import check_whole, digest, kill, wait_until, wave
from tangere import InputError, sweep

DRIVER = [sys.executable, str(Path(__file__).with_name("drive_wave.py"))]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes; as root it is mounted, others do it in a name space of their own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", folder], capture_output=True).returncode != 0:
        pytest.skip("no right to mount a small disk here; test_a_disk_that_reports_full needs none")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_is_told_and_the_sweep_goes_on_when_there_is_room(small_disk, tmp_path):
    rows = sweep.grid(x=range(12))  # 2.4 MB
    with pytest.raises(sweep.StorageError, match=r"the disk is full.*of 12 chunks are done and safe"):
        sweep.run(tasks.fills, rows, small_disk / "sweep", chunk=1, workers=2)
    status = sweep.open(small_disk / "sweep").status
    assert 5 <= status.done < 12 and status.failed == 0 and status.torn == 0
    assert not list((small_disk / "sweep").rglob("*.tmp.*"))
    subprocess.run(["mount", "-o", "remount,size=20m", small_disk], check=True)
    run = sweep.run(tasks.fills, rows, small_disk / "sweep", chunk=1, workers=2)
    other = sweep.run(tasks.fills, rows, tmp_path / "roomy", chunk=1, workers=2)
    assert run.status.done == 12 and digest(run) == digest(other)


def test_a_disk_that_reports_full(tmp_path, monkeypatch, reference):
    full = tmp_path / "full"
    full.touch()
    monkeypatch.setenv("SWEEP_TEST_FULL", str(full))
    with pytest.raises(sweep.StorageError, match="the disk is full"):
        wave(tmp_path / "sweep", workers=2)
    assert sweep.open(tmp_path / "sweep").status.done < 120
    full.unlink()
    check_whole(wave(tmp_path / "sweep", workers=2), reference)


def as_nobody(command, **how):
    """A process without root's rights, if we have them."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **how)


def test_a_read_only_folder_is_told_before_anything_is_computed(tmp_path, task_log, reference):
    folder = tmp_path / "sweep"
    run = wave(folder, workers=2)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    shutil.rmtree(tmp_path / "empty", ignore_errors=True)
    (tmp_path / "empty").mkdir()
    computed = task_log.read_text()
    if os.getuid() == 0:
        # permissions do not stop root: a read-only mount does
        for path in (folder, tmp_path / "empty"):
            subprocess.run(["mount", "--bind", path, path], check=True)
            subprocess.run(["mount", "-o", "remount,bind,ro", path], check=True)
    else:
        for path in (folder, folder / "shards", folder / "receipts", tmp_path / "empty"):
            path.chmod(0o555)
    try:
        for path in (folder, tmp_path / "empty"):
            with pytest.raises(sweep.StorageError, match="cannot be written: .*(read-only|permissions)"):
                wave(path, workers=2)
        # reading needs no right to write
        assert sweep.open(folder).status.done == 120
        assert sweep.open(folder).table().num_rows == 480
        sweep.open(folder).merge(tmp_path / "merged.parquet")
    finally:
        for path in (folder, tmp_path / "empty"):
            if os.getuid() == 0:
                subprocess.run(["umount", "-l", path], check=True)
            for inner in (path, path / "shards", path / "receipts"):
                if inner.exists():
                    inner.chmod(0o755)
    assert task_log.read_text() == computed
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    check_whole(run, reference)


@pytest.mark.parametrize("damage", ["cut", "bit", "gone", "receipt", "empty receipt"])
def test_a_torn_shard_is_told_and_made_again(damage, tmp_path, task_log, capfd, reference):
    run = wave(tmp_path / "sweep", workers=2)
    shard = tmp_path / "sweep" / "shards" / "00000042.parquet"
    receipt = tmp_path / "sweep" / "receipts" / "00000042.json"
    whole = shard.read_bytes()
    if damage == "cut":
        shard.write_bytes(whole[:100])
    elif damage == "bit":
        shard.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
        with pytest.raises(sweep.SweepError, match="00000042.parquet: is not what its receipt says"):
            run.table()
    elif damage == "gone":
        shard.unlink()
    elif damage == "receipt":
        receipt.unlink()
    else:
        receipt.write_text("")
    if damage in ("cut", "gone", "empty receipt"):
        assert run.status.torn == 1
    task_log.write_text("")
    run = wave(tmp_path / "sweep", workers=2)
    told = capfd.readouterr().err
    assert ("chunk 42 was torn or changed" in told) == (damage != "receipt")
    assert len(task_log.read_text().split()) == 1
    check_whole(run, reference)
    if damage in ("cut", "bit"):
        aside = list((tmp_path / "sweep" / "set-aside").glob("00000042.parquet.*"))
        assert len(aside) == 1 and aside[0].read_bytes() != whole  # nothing is overwritten


def test_two_drivers_in_one_folder(tmp_path, task_log, reference):
    folder = tmp_path / "sweep"
    first = subprocess.Popen([*DRIVER, str(folder), "local"])
    wait_until(lambda: len(task_log.read_text().split()) > 3)
    with pytest.raises(sweep.SweepError, match=f"is being run by process {first.pid} on"):
        wave(folder, workers=2)
    with pytest.raises(sweep.SweepError, match="is being run by"):
        sweep.open(folder).resume(share=(0, 4))
    assert sweep.open(folder).status.chunks == 120  # looking is allowed
    assert first.wait(60) == 0
    check_whole(wave(folder, workers=2), reference)
    assert len(task_log.read_text().split()) == 120


def test_a_killed_drivers_folder_is_free_at_once(tmp_path, task_log):
    first = subprocess.Popen([*DRIVER, str(tmp_path / "sweep"), "local"])
    wait_until(lambda: len(task_log.read_text().split()) > 3)
    kill([first.pid])
    first.wait()
    assert wave(tmp_path / "sweep", workers=2).status.done == 120


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 4}, "seed was 3, is now 4"),
        ({"chunk": 5}, "chunk was 4, is now 5"),
        ({"rows": sweep.grid(x=[0.5, 1.0]) * sweep.seeds(160)}, r"rows was 480, is now 320"),
        ({"options": {"rate": 2}}, "options.rate was null, is now 2"),
        ({"task": tasks.mixed, "rows": sweep.grid(x=[1])}, 'task.name was "wave", is now "mixed"'),
    ],
)
def test_a_changed_sweep_is_refused_and_says_what_differs(change, says, tmp_path, reference):
    from conftest import WAVE_ROWS

    run = wave(tmp_path / "sweep", workers=2)
    given = {"task": tasks.wave, "rows": WAVE_ROWS, "chunk": 4, "seed": 3, **change}
    if "options" in change:
        given["task"] = tasks.any_columns
        says = 'task.name was "wave", is now "any_columns".*' + says
    for accept in (False, True):
        with pytest.raises(InputError, match=f"holds another sweep: .*{says}"):
            sweep.run(given["task"], given["rows"], tmp_path / "sweep", chunk=given["chunk"], seed=given["seed"],
                      options=given.get("options"), accept_changes=accept)  # fmt: skip
    check_whole(run, reference)


CHANGING = """
from tangere import sweep

@sweep.task
def f(x):
    return {{"y": {factor} * x}}
"""


def test_changed_code_is_refused_unless_accepted(tmp_path, monkeypatch):
    script, folder = tmp_path / "changing.py", tmp_path / "sweep"

    def command(*more):
        return subprocess.run(
            [sys.executable, "-m", "tangere", "sweep", "run", folder, "--function", f"{script}:f", "--quiet",
             "--grid", "x=1,2,3,4", "--chunk", "1", "--workers", "1", *more],
            capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip

    script.write_text(CHANGING.format(factor=2))
    assert command().returncode == 0
    (folder / "receipts" / "00000003.json").unlink()
    (folder / "shards" / "00000003.parquet").unlink()
    script.write_text("# a comment is no change\n" + CHANGING.format(factor=2))
    assert command().returncode == 0
    (folder / "receipts" / "00000003.json").unlink()
    (folder / "shards" / "00000003.parquet").unlink()
    script.write_text(CHANGING.format(factor=3))
    refused = command()
    assert refused.returncode == 2 and "task.code was" in refused.stderr and "--accept-changes" in refused.stderr
    assert sweep.open(folder).status.done == 3
    assert command("--accept-changes").returncode == 0
    assert sweep.open(folder).table().column("y").to_pylist() == [2, 4, 6, 12]
    assert command().returncode == 0  # accepted once, known from then on
    assert len(json.loads((folder / "manifest.json").read_text())["accepted"]) == 1


@pytest.mark.parametrize(
    ("mode", "says", "tries"),
    [
        ("segfault", "SIGSEGV: a crash", 3),
        ("exit", "exit code 9", 3),
        ("loop", "SIGALRM: over its time limit", 3),
        ("throw", "row 7 .*x=7.*ValueError: this row is bad .*sweep_tasks.py:", 1),
    ],
)
def test_a_chunk_that_always_crashes_is_given_up_and_the_rest_is_finished(mode, says, tries, tmp_path):
    log = tmp_path / "log"
    rows, options = sweep.grid(x=range(20)), {"mode": mode, "log": str(log)}
    limit = 2.0 if mode == "loop" else None
    run = sweep.run(tasks.crashes, rows, tmp_path / "s", chunk=2, options=options, workers=2, chunk_seconds=limit)
    assert (run.status.done, run.status.failed) == (9, 1)
    (failure,) = run.failed
    assert (failure.chunk, failure.first_row, failure.last_row, failure.tries) == (3, 6, 7, tries)
    import re

    assert re.search(says, failure.error), failure.error
    assert run.table().column("row").to_pylist() == [r for r in range(20) if r not in (6, 7)]
    # it is not tried again unless that is asked for
    before = log.read_text().count("7\n")
    sweep.open(tmp_path / "s").resume(workers=1, chunk_seconds=limit)
    assert log.read_text().count("7\n") == before
    if mode == "throw":
        sweep.open(tmp_path / "s").resume(workers=1, retry_failed=True)
        assert log.read_text().count("7\n") > before
    command = [sys.executable, "-m", "tangere", "sweep", "status", tmp_path / "s"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert shown.returncode == 3 and "chunk 3 (rows 6 to 7) failed" in shown.stderr


def test_a_task_that_cannot_be_imported_is_told_once(tmp_path, monkeypatch):
    script = tmp_path / "breaks_in_workers.py"
    script.write_text(
        "import os\nfrom tangere import sweep\n"
        "if os.environ.get('TANGERE_SWEEP_WORKER'):\n    raise ZeroDivisionError('only there')\n"
        "def f(x):\n    return x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import breaks_in_workers

    with pytest.raises(sweep.SweepError, match="cannot be imported: ZeroDivisionError: only there"):
        sweep.run(breaks_in_workers.f, sweep.grid(x=range(5)), tmp_path / "s", chunk=1, workers=2)


def test_folders_that_are_no_sweeps_are_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        wave(tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="holds other files .thesis.tex."):
        wave(tmp_path / "other")
    with pytest.raises(InputError, match="is not the folder of a sweep"):
        sweep.open(tmp_path / "other").status
    (tmp_path / "broken").mkdir()
    for text, says in (("{", "cannot be read"), ("[]", "is not the manifest"), ('{"format": "tangere-sweep"}', "version")):
        (tmp_path / "broken" / "manifest.json").write_text(text)
        with pytest.raises(InputError, match=says):
            sweep.open(tmp_path / "broken").status


def test_a_folder_that_vanishes_is_told(tmp_path, task_log):
    folder = tmp_path / "sweep"

    def vanish():
        wait_until(lambda: len(task_log.read_text().split()) > 6)
        folder.rename(tmp_path / "elsewhere")

    thread = threading.Thread(target=vanish)
    thread.start()
    with pytest.raises(sweep.StorageError, match="it is gone"):
        wave(folder, workers=2)
    thread.join()
    time.sleep(0.1)
    assert sweep.open(tmp_path / "elsewhere").status.torn == 0


def test_leftovers_of_the_dead_are_removed(tmp_path):
    import socket

    wave(tmp_path / "sweep", workers=2)
    dead = subprocess.Popen(["true"])
    dead.wait()
    shards = tmp_path / "sweep" / "shards"
    ours = shards / f"00000001.parquet.tmp.{socket.gethostname()}.{dead.pid}.0"
    living = shards / f"00000001.parquet.tmp.{socket.gethostname()}.{os.getpid()}.0"
    foreign = shards / "00000001.parquet.tmp.other.host.5.0"
    for path in (ours, living, foreign):
        path.write_text("x")
    wave(tmp_path / "sweep", workers=2)
    assert not ours.exists() and living.exists() and foreign.exists()
