"""The Ray engine: the same bytes, whatever dies. Loopback only."""

import os
import random
import secrets
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import check_whole, descendants, kill, wait_until, wave, zombie
from tangere import sweep

pytest.importorskip("ray")
HERE = Path(__file__).parent
DRIVER = [sys.executable, str(HERE / "drive_wave.py")]


def computed(log):
    return len(log.read_text().split())


def all_of_ray(root):
    """Its processes below one, workers too; not ours that speaks to it."""
    return [p for text in ("gcs_server", "raylet", "ray::", "/ray/") for p in descendants(root, text)]


@pytest.fixture
def cluster(tmp_path, task_log, monkeypatch):
    """A head of Ray of its own process, with a token; its address. Its workers have the environment of now."""
    monkeypatch.setenv("SWEEP_TEST_NAP", "0.07")
    token = tmp_path / "token"
    token.write_text(secrets.token_hex(32))
    token.chmod(0o600)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # 127.0.0.1 stays what it is
    head = subprocess.Popen(
        [sys.executable, str(HERE / "ray_head.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"},
    )
    told = head.stdout.readline().split()
    assert told and told[0] == "address", "no head"

    def ask(text):
        head.stdin.write(text + "\n")
        head.stdin.flush()
        return head.stdout.readline().strip()

    ask.address = told[1]
    ask.pid = head.pid
    yield ask
    head.stdin.close()
    try:
        head.wait(20)
    except subprocess.TimeoutExpired:
        kill([*descendants(head.pid), head.pid])
        head.wait()


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_bytes(workers, tmp_path, reference):
    check_whole(wave(tmp_path / "sweep", engine=sweep.Ray(workers=workers)), reference)


def test_a_random_worker_killed_every_three_seconds_for_a_minute(tmp_path, task_log, monkeypatch, reference):
    monkeypatch.setenv("SWEEP_TEST_NAP", "0.22")
    killed = []
    over = threading.Event()

    def assassin():
        while len(killed) < 20 and not over.wait(3.0):
            if victims := [p for p in descendants(os.getpid(), "ray::_lease") if not zombie(p)]:
                killed.append(random.choice(victims))
                kill(killed[-1:])

    thread = threading.Thread(target=assassin)
    thread.start()
    try:
        run = wave(tmp_path / "sweep", engine=sweep.Ray(workers=2))
    finally:
        over.set()
        thread.join()
    assert len(killed) >= 15
    check_whole(run, reference)
    assert computed(task_log) - 120 <= 2 * len(killed)


@pytest.mark.parametrize("part", [1, 2, 3, 4])
def test_the_driver_killed_five_times(part, cluster, tmp_path, task_log, reference):
    folder = tmp_path / "sweep"
    for _ in range(5):
        begun = computed(task_log)
        driver = subprocess.Popen([*DRIVER, str(folder), "ray", cluster.address])
        wait_until(lambda: computed(task_log) > begun or driver.poll() is not None)
        time.sleep(random.uniform(0.0, 0.5))
        assert driver.poll() is None, "the driver ended before it was killed often enough"
        driver.kill()
        driver.wait()
    check_whole(wave(folder, engine=sweep.Ray(cluster.address, workers=2)), reference)
    assert computed(task_log) - 120 <= 4 * 5


@pytest.mark.parametrize("part", [1, 2, 3, 4, 5])
def test_the_whole_head_killed_four_times_under_a_living_driver(part, tmp_path, task_log, monkeypatch, reference):
    monkeypatch.setenv("SWEEP_TEST_NAP", "0.05")
    kills = []
    over = threading.Event()

    def assassin():
        while len(kills) < 4 and not over.is_set():
            begun = computed(task_log)
            while computed(task_log) == begun and not over.wait(0.02):
                pass
            if over.wait(random.uniform(0.0, 1.0)):
                return
            victims = all_of_ray(os.getpid())
            if any(not zombie(p) for p in victims):
                kills.append(len(victims))
                kill(victims)

    thread = threading.Thread(target=assassin)
    thread.start()
    try:
        run = wave(tmp_path / "sweep", engine=sweep.Ray(workers=2))
    finally:
        over.set()
        thread.join()
    assert len(kills) == 4
    check_whole(run, reference)
    assert computed(task_log) - 120 <= 4 * len(kills)


def test_a_node_removed_and_another_added(cluster, tmp_path, task_log, reference):
    added = cluster("add")
    done = []
    driver = threading.Thread(
        target=lambda: done.append(wave(tmp_path / "sweep", engine=sweep.Ray(cluster.address)))
    )
    driver.start()
    wait_until(lambda: computed(task_log) > 15)
    assert cluster(f"remove {added}") == "removed"
    at_removal = computed(task_log)
    wait_until(lambda: computed(task_log) > at_removal + 10)
    cluster("add")
    driver.join(100)
    assert done, "the sweep did not end"
    check_whole(done[0], reference)
    assert 0 <= computed(task_log) - 120 <= 4
    hosts = {r.pid for r in done[0].receipts()}
    assert len(hosts) >= 3  # workers of the head and of both nodes


# ray.init says no after twenty seconds of trying; its client at once
CONNECT = "from ray._raylet import GcsClient; print(GcsClient(address={address!r}).internal_kv_keys(b'', None, timeout=20))"
INIT = "import ray; ray.init(address={address!r}, logging_level='ERROR'); print(ray.cluster_resources()['CPU'])"


def test_a_connection_without_the_token_is_refused(cluster, tmp_path, reference):
    def connect(text, **environment):
        given = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        given["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        code = text.format(address=cluster.address)
        return subprocess.run([sys.executable, "-c", code], env={**given, "HOME": str(tmp_path), **environment},
                              capture_output=True, text=True, timeout=100)  # fmt: skip

    wrong = tmp_path / "wrong"
    wrong.write_text(secrets.token_hex(32))
    token = os.environ["RAY_AUTH_TOKEN_PATH"]
    for text in (CONNECT, INIT):
        right = connect(text, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=token)
        assert right.returncode == 0 and right.stdout, right.stderr
    without = {"RAY_AUTH_MODE": "disabled"}
    for text, environment in ((CONNECT, without), (INIT, without),
                              (CONNECT, {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(wrong)})):  # fmt: skip
        refused = connect(text, **environment)
        assert refused.returncode != 0 and not refused.stdout
        assert "InvalidAuthToken" in refused.stderr, refused.stderr
    # ours says so too, and computes nothing
    os.environ["RAY_AUTH_TOKEN_PATH"] = str(wrong)
    try:
        with pytest.raises(sweep.SweepError, match="AuthenticationError|InvalidAuthToken"):
            wave(tmp_path / "sweep", engine=sweep.Ray(cluster.address))
    finally:
        os.environ["RAY_AUTH_TOKEN_PATH"] = token
    assert sweep.open(tmp_path / "sweep").status.done == 0


def listening(pids):
    """Local addresses (hexadecimal) of the ports that these processes listen on."""
    sockets = set()
    for pid in pids:
        try:
            links = [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
        sockets |= {link[8:-1] for link in links if link.startswith("socket:[")}
    lines = [line.split() for file in ("tcp", "tcp6") for line in open(f"/proc/net/{file}").readlines()[1:]]
    return {c[1].partition(":")[::2] for c in lines if c[3] == "0A" and c[9] in sockets}


LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")


def test_a_ray_of_our_own_asks_for_a_token_and_listens_to_this_machine_only(tmp_path, task_log, monkeypatch):
    monkeypatch.setenv("SWEEP_TEST_NAP", "0.03")
    done = []
    driver = threading.Thread(target=lambda: done.append(wave(tmp_path / "sweep", engine=sweep.Ray(workers=1))))
    driver.start()
    try:
        wait_until(lambda: computed(task_log) > 2)
        (head,) = descendants(os.getpid(), "gcs_server")
        environment = Path(f"/proc/{head}/environ").read_bytes().split(b"\0")
        assert b"RAY_AUTH_MODE=token" in environment and b"RAY_USAGE_STATS_ENABLED=0" in environment
        (token,) = [e.partition(b"=")[2] for e in environment if e.startswith(b"RAY_AUTH_TOKEN_PATH=")]
        assert os.stat(token).st_mode & 0o077 == 0 and len(Path(os.fsdecode(token)).read_text()) == 64
        everywhere = listening(descendants(os.getpid()))
        assert everywhere and {address for address, _ in everywhere} <= set(LOOPBACK)
        (port,) = [int(port, 16) for _, port in listening([head])]
        code = CONNECT.format(address=f"127.0.0.1:{port}")
        away = {"RAY_AUTH_MODE": "disabled", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
        refused = subprocess.run([sys.executable, "-c", code], env={**os.environ, **away}, capture_output=True,
                                 text=True, timeout=60)  # fmt: skip
        assert refused.returncode != 0 and "InvalidAuthToken" in refused.stderr, refused.stderr
    finally:
        driver.join(60)
    assert done and done[0].status.done == 120


def test_a_chunk_that_always_crashes(tmp_path):
    import sweep_tasks as tasks

    options = {"mode": "segfault", "log": str(tmp_path / "log")}
    run = sweep.run(tasks.crashes, sweep.grid(x=range(12)), tmp_path / "s", chunk=2, options=options, engine="ray",
                    workers=2)  # fmt: skip
    assert (run.status.done, run.status.failed) == (5, 1) and run.failed[0].chunk == 3
    # in a worker of Ray, whose death does not say why; then in processes of its own
    assert run.failed[0].tries in (3, 4) and "SIGSEGV: a crash" in run.failed[0].error
