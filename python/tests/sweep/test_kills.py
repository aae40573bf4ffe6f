"""Death of workers and drivers, local engine."""

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import check_whole, descendants, kill, wait_until, wave
from tangere import sweep

DRIVER = [sys.executable, str(Path(__file__).with_name("drive_wave.py"))]
WORKER = "tangere.sweep.worker"


def test_a_random_worker_killed_every_three_seconds_for_a_minute(tmp_path, task_log, monkeypatch, reference):
    monkeypatch.setenv("SWEEP_TEST_NAP", "0.24")  # of a row: 480 of them are a minute on two workers
    killed = []
    over = threading.Event()

    def assassin():
        while len(killed) < 20 and not over.wait(3.0):
            if victims := descendants(os.getpid(), WORKER):
                killed.append(random.choice(victims))
                kill(killed[-1:])

    thread = threading.Thread(target=assassin)
    thread.start()
    try:
        start = time.monotonic()
        run = wave(tmp_path / "sweep", workers=2)
        seconds = time.monotonic() - start
    finally:
        over.set()
        thread.join()
    assert seconds > 55.0 and len(killed) >= 18
    check_whole(run, reference)
    # a killed worker computes one chunk, and may have one that is not yet on the disk
    assert len(task_log.read_text().split()) - 120 <= 2 * len(killed)


def test_the_driver_killed_twenty_times(tmp_path, task_log, monkeypatch, reference):
    monkeypatch.setenv("SWEEP_TEST_NAP", "0.06")
    folder = tmp_path / "sweep"
    kills = 0
    while kills < 20:
        begun = len(task_log.read_text().split())
        driver = subprocess.Popen([*DRIVER, str(folder), "local"])
        wait_until(lambda: len(task_log.read_text().split()) > begun or driver.poll() is not None)
        time.sleep(random.uniform(0.0, 0.5))
        if driver.poll() is not None:
            pytest.fail("the driver ended before it was killed often enough")
        driver.kill()
        driver.wait()
        kills += 1
        # its workers end by themselves, in the middle of a chunk
        wait_until(lambda: not [p for p in descendants(1, WORKER) if str(tmp_path) in _environment(p)], 10.0)
    before = sweep.open(folder).status
    run = wave(folder, workers=2)
    check_whole(run, reference)
    assert len(task_log.read_text().split()) - 120 <= 4 * kills
    assert 0 < before.done


def _environment(pid):
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def test_ctrl_c_stops_and_the_same_call_goes_on(tmp_path, task_log, reference):
    import signal

    folder = tmp_path / "sweep"
    driver = subprocess.Popen([*DRIVER, str(folder), "local"], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(task_log.read_text().split()) > 10)
    driver.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in driver.communicate(timeout=20)[1]
    assert 0 < sweep.open(folder).status.done < 120
    check_whole(wave(folder, workers=2), reference)
