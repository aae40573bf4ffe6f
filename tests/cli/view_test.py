#!/usr/bin/env python3
"""`tangere view` and live runs from the outside: files, pages, and a server that strangers talk to.

    view_test.py BINARY [unittest arguments]
"""

import base64
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from command import BINARY, SCENES, CommandTest, run


class Server:
    """A command that serves, started and ended."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([BINARY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/", self.said)):
            line = self.process.stdout.readline()
            if line == "":
                raise RuntimeError(f"it ended: {self.said}")
            self.said += line
        self.port = int(found.group(1))
        self.host = f"127.0.0.1:{self.port}"
        self.origin = f"http://{self.host}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.code = self.process.wait(timeout=30)
        self.process.stdout.close()

    def connect(self, receive_buffer=None):
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.settimeout(20)
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.connect(("127.0.0.1", self.port))
        return connection

    def send(self, data):
        """Bytes out, bytes back until the server closes."""
        with self.connect() as connection:
            connection.sendall(data)
            answer = b""
            try:
                while block := connection.recv(65536):
                    answer += block
            except ConnectionResetError:
                pass
            return answer

    def request(self, target, method="GET", host=None, **headers):
        """Status, headers and body."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or self.host}"] + [f"{k.replace('_', '-')}: {v}" for k, v in headers.items()]
        head, _, body = self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin1")).partition(b"\r\n\r\n")
        first, *rest = head.decode("latin1").split("\r\n")
        return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in rest), body

    def upgrade(self, target="/live", origin=None, receive_buffer=None):
        """A connection after the answer to an upgrade, the answer's status, and what came with it."""
        connection = self.connect(receive_buffer)
        key = base64.b64encode(os.urandom(16)).decode()
        origin_line = f"Origin: {origin}\r\n" if origin else ""
        connection.sendall(
            f"GET {target} HTTP/1.1\r\nHost: {self.host}\r\n{origin_line}Connection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        data = b""
        while b"\r\n\r\n" not in data:
            block = connection.recv(4096)
            if not block:
                break
            data += block
        head, _, rest = data.partition(b"\r\n\r\n")
        return connection, int(head.split()[1]), rest


def frames_of(connection, data, most):
    """Text messages of a WebSocket, up to so many; None for a close."""
    messages = []
    while len(messages) < most:
        while len(data) < 2 or len(data) < (header := 2 + {126: 2, 127: 8}.get(data[1] & 127, 0)) or len(data) < header + length_of(data):
            block = connection.recv(65536)
            if not block:
                return messages + [None]
            data += block
        length = length_of(data)
        if data[0] & 15 == 8:
            return messages + [None]
        messages.append(data[header : header + length].decode())
        data = data[header + length :]
    return messages


def length_of(data):
    short = data[1] & 127
    if short == 126:
        return struct.unpack(">H", data[2:4])[0]
    return struct.unpack(">Q", data[2:10])[0] if short == 127 else short


class ViewTest(CommandTest):
    def record(self, name="run.json", steps=40):
        file = self.path / name
        result = run("simulate", str(SCENES / "mixed_stack.json"), "--steps", str(steps), "--record", str(file))
        self.assertEqual(result.returncode, 0, result.stderr)
        return file

    # files

    def test_exports(self):
        file = self.record()
        recording = json.loads(file.read_text())
        gltf, csv = self.path / "run.gltf", self.path / "run.csv"
        result = run("view", str(file), "--gltf", str(gltf), "--csv", str(csv))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.split(), [str(gltf), str(csv)])
        document = json.loads(gltf.read_text())
        self.assertEqual(document["asset"]["version"], "2.0")
        self.assertEqual(len(document["animations"]), 1)
        lines = csv.read_text().splitlines()
        self.assertEqual(len(lines), 1 + len(recording["frames"]))
        last = [float(x) for x in lines[-1].split(",")]
        self.assertEqual(last[0], recording["frames"][-1]["t"])
        self.assertEqual(last[-7:], recording["frames"][-1]["poses"][-1])

    def test_page(self):
        """Everything that can be looked at becomes one file without addresses of others."""
        queries = self.path / "queries.jsonl"
        queries.write_text('{"a": {"shape": {"type": "sphere", "radius": 1}}, "b": {"shape": {"type": "sphere", "radius": 1}, "position": [3, 0, 0]}}\n')
        for source in (self.record(), queries, SCENES / "two_arms.json", SCENES / "half_cheetah.xml", SCENES / "arm.urdf"):
            page = self.path / "page.html"
            result = run("view", str(source), "--html", str(page))
            self.assertEqual(result.returncode, 0, result.stderr)
            text = page.read_text()
            inside = re.search(r'<script type="application/json" id="recording">(.*?)</script>', text, re.S).group(1)
            recording = json.loads(inside)
            self.assertEqual(recording["format"], "tangere-recording")
            self.assertEqual(len(recording["frames"][0]["poses"]), len(recording["bodies"]))
            self.assertLess(len(text) - len(inside), 900_000)
            self.assertIsNone(re.search(r'<(script|link|img)[^>]+(src|href)="(?!data:)', text))

    def test_page_of_a_run(self):
        page = self.path / "run.html"
        result = run("simulate", str(SCENES / "cartpole.xml"), "--steps", "50", "--html", str(page), "--json")
        self.assertEqual(json.loads(result.stdout)["page"], str(page))
        self.assertIn("cartpole", page.read_text())
        self.assertEqual(sorted(os.listdir(self.path)), ["run.html"])
        result = run("simulate", str(SCENES / "cartpole.xml"), "--steps", "50", "--html", str(self.path / "none" / "run.html"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("none/run.html: cannot be written", result.stderr)

    def test_pages_of_experiments(self):
        folder = self.path / "pages"
        result = run("experiment", "nimble_drone", "--html", str(folder), "--output", str(self.path / "results"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(str(folder / "index.html"), result.stderr)
        self.assertEqual(sorted(os.listdir(folder)), ["index.html", "nimble_drone.html", "nimble_drone_result.html"])
        self.assertIn('href="nimble_drone_result.html"', (folder / "index.html").read_text())
        page = (folder / "nimble_drone_result.html").read_text()
        for part in ('href="nimble_drone.html"', "complementarity-aware ones lift it off</p>", '<p class="verdict met">MET</p>', "commit "):
            self.assertIn(part, page)
        self.assertIn('"ghosts": [', (folder / "nimble_drone.html").read_text())

    def test_bad_files(self):
        good = self.record().read_text()
        for name, text, message in (
            ("missing.json", None, "cannot be read: No such file"),
            ("empty.json", "", "is not a recording, a scene"),
            ("text.txt", "hello", "is not a recording, a scene"),
            ("version.json", good.replace('"version": 1', '"version": 7'), "version: must be 1"),
            ("body.json", good.replace('"body":1', '"body":77'), "shapes[1].body: must be a whole number from 0 to 5"),
            ("pose.json", good.replace('{"t":0.02', '{"t":0.02,"t":3'), "frames[1]"),
            ("deep.json", '{"format": "tangere-recording", "x": ' + "[" * 5000 + "]" * 5000 + "}", "nested deeper"),
            ("header.json", good[:200], "JSON"),
            ("queries.jsonl", '{"a": {"shape": {"type": "sphere"}}, "b": {}}\n', "line 1"),
        ):
            file = self.path / name
            if text is not None:
                file.write_text(text)
            result = run("view", str(file), "--html", str(self.path / "page.html"))
            self.assertEqual((result.returncode, result.stdout), (2, ""), name)
            self.assertIn(message, result.stderr)
            self.assertIn(name, result.stderr)
        self.assertIn("is a folder", run("view", str(self.path), "--html", "x").stderr)

    def test_crashed_run(self):
        """What a run that was killed has written is there to be seen."""
        file = self.path / "run.json"
        with subprocess.Popen([BINARY, "simulate", str(SCENES / "mixed_stack.json"), "--steps", "100000000", "--record", str(file)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            partial = self.path / "run.json.partial"
            while not (partial.exists() and partial.stat().st_size > 100_000):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.kill()
        csv = self.path / "run.csv"
        result = run("view", str(partial), "--csv", str(csv))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("did not come to its end", result.stderr)
        self.assertGreater(len(csv.read_text().splitlines()), 10)
        self.assertFalse(file.exists())

    def test_ghosts(self):
        file = self.record()
        other = self.path / "other.json"
        run("simulate", str(SCENES / "cartpole.xml"), "--steps", "20", "--record", str(other))
        page = self.path / "page.html"
        self.assertEqual(run("view", str(file), "--ghost", str(self.record("second.json", 20)), "--html", str(page)).returncode, 0)
        self.assertIn('"ghosts": [', page.read_text())
        result = run("view", str(file), "--ghost", str(other), "--html", str(page))
        self.assertEqual(result.returncode, 2)
        self.assertIn("other.json: has other bodies", result.stderr)

    # the server

    def test_serves_the_page_and_the_data(self):
        file = self.record()
        with Server("view", str(file)) as server:
            for host in (server.host, f"localhost:{server.port}"):
                status, headers, body = server.request("/", host=host)
                self.assertEqual((status, headers["content-type"]), (200, "text/html; charset=utf-8"))
                self.assertIn(b'id="recording">null</script>', body)
                self.assertIn("default-src 'none'", headers["content-security-policy"])
            status, headers, body = server.request("/recording", Origin=server.origin)
            self.assertEqual((status, headers["x-content-type-options"]), (200, "nosniff"))
            self.assertNotIn("x-tangere-live", headers)
            self.assertEqual(json.loads(body), json.loads(file.read_text()))
            status, headers, body = server.request("/recording", method="HEAD")
            self.assertEqual((status, body), (200, b""))
            self.assertGreater(int(headers["content-length"]), 1000)
        self.assertEqual(server.code, 0)

    def test_serves_nothing_else(self):
        with Server("view", str(SCENES / "pendulum.urdf")) as server:
            for target in ("/etc/passwd", "/../../etc/passwd", "//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/recording/..",
                           "/recording/", "/..\\..\\etc\\passwd", "/.", "/viewer.html", "*", "/" + "a" * 4000, "http://example.org/"):
                self.assertEqual(server.request(target)[0], 404, target)
            for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
                self.assertEqual(server.request("/", method=method)[0], 405, method)
            self.assertEqual(server.request("/live")[0], 426)

    def test_refuses_strangers(self):
        with Server("view", str(SCENES / "pendulum.urdf")) as server:
            for host in ("example.org", f"example.org:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", f"127.0.0.1.example.org:{server.port}"):
                self.assertEqual(server.request("/", host=host)[0], 403, host)
            for origin in ("http://example.org", "null", "https://" + server.host, f"http://{server.host}.example.org", "http://127.0.0.1"):
                self.assertEqual(server.request("/recording", Origin=origin)[0], 403, origin)
                connection, status, _ = server.upgrade(origin=origin)
                connection.close()
                self.assertEqual(status, 403, origin)
            connection, status, _ = server.upgrade()
            connection.close()
            self.assertEqual(status, 403)
            # only this machine is listened to
            addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1", "127.0.1.1"}
            for address in addresses:
                with self.assertRaises(OSError):
                    socket.create_connection((address, server.port), timeout=2).close()

    def test_survives_nonsense(self):
        with Server("view", str(SCENES / "pendulum.urdf")) as server:
            ok = f"GET / HTTP/1.1\r\nHost: {server.host}\r\n".encode()
            for data in (
                b"\x00\xff\x16\x03\x01 nonsense\r\n\r\n",
                b"GET\r\n\r\n",
                b"GET / HTTP/9.9\r\n\r\n",
                ok + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
                ok + b"".join(b"X%d: y\r\n" % i for i in range(5000)) + b"\r\n",
                ok + b"Content-Length: 1000000000\r\n\r\n",
                ok + b"Content-Length: -1\r\n\r\n",
                ok + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n" + b"x" * 100_000,
                ok + b"Bad Header\r\n\r\n",
            ):
                answer = server.send(data)
                self.assertTrue(answer == b"" or answer.startswith(b"HTTP/1.1 400"), answer[:80])
            # connections that say nothing, many of them, and some that go away in the middle
            silent = [server.connect() for _ in range(30)]
            for connection in silent[:15]:
                connection.sendall(b"GET / HT")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            self.assertEqual(server.request("/")[0], 200)
            for connection in silent[15:]:
                connection.close()
            self.assertEqual(server.request("/")[0], 200)
        self.assertEqual(server.code, 0)

    def test_port_that_is_taken(self):
        with Server("view", str(SCENES / "pendulum.urdf")) as server:
            result = run("view", str(SCENES / "pendulum.urdf"), "--port", str(server.port))
            self.assertEqual(result.returncode, 2)
            self.assertIn("--port: cannot listen on", result.stderr)

    # live

    def test_live(self):
        record = self.path / "run.json"
        with Server("simulate", str(SCENES / "mixed_stack.json"), "--steps", "400", "--live", "--record", str(record)) as server:
            status, headers, body = server.request("/recording")
            self.assertEqual((status, headers["x-tangere-live"]), (200, "1"))
            self.assertTrue(body.startswith(b'{"format": "tangere-recording"'))
            # one who hears everything to the end
            connection, status, rest = server.upgrade("/live?after=-1", server.origin)
            self.assertEqual(status, 101)
            # one who says too much, one who goes away
            talker, _, _ = server.upgrade("/live", server.origin)
            talker.sendall(b"\x82\xfe\xff\xff\x00\x00\x00\x00" + b"x" * 65535)
            leaver, _, _ = server.upgrade("/live", server.origin)
            leaver.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            leaver.close()
            heard = frames_of(connection, rest, 10_000)
            connection.close()
            talker.close()
            self.assertIsNone(heard[-1])
            self.assertEqual(heard[-2], "end 101")
            recording = json.loads(record.read_text())
            self.assertEqual([json.loads(line) for line in heard[:-2]], recording["frames"])
            # after the end the whole of it is still there
            status, headers, body = server.request("/recording")
            self.assertNotIn("x-tangere-live", headers)
            self.assertEqual(json.loads(body), recording)
            connection, status, _ = server.upgrade("/live?after=x", server.origin)
            connection.close()
            self.assertEqual(status, 400)
        self.assertEqual(server.code, 0)

    def test_what_a_file_is_stands_in_it(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            record = folder / "run.json"
            self.assertEqual(run("simulate", str(SCENES / "humanoid.xml"), "--steps", "60", "--record", str(record)).returncode, 0)
            # other programs sort fields and break lines
            (folder / "sorted").write_text("\ufeff" + json.dumps(json.loads(record.read_text()), sort_keys=True, indent=1))
            (folder / "scene.txt").write_text("\ufeff\n" + (SCENES / "mixed_stack.json").read_text())
            (folder / "robot.json").write_text((SCENES / "arm.urdf").read_text())
            (folder / "queries").write_text("\n\n" + json.dumps({side: {"shape": {"type": "sphere", "radius": 1}, "position": [x, 0, 0]} for side, x in (("a", 0), ("b", 3))}) + "\n")
            for file in ("sorted", "scene.txt", "robot.json", "queries"):
                result = run("view", str(folder / file), "--csv", str(folder / "out.csv"))
                self.assertEqual(result.returncode, 0, result.stderr)
            # an unfinished recording is not lost to a page of its name, links stay links
            partial = folder / "page.html.partial"
            partial.write_text(record.read_text()[:-60])
            before = partial.read_text()
            (folder / "target.html").write_text("")
            (folder / "page.html").symlink_to(folder / "target.html")
            self.assertEqual(run("view", str(partial), "--html", str(folder / "page.html")).returncode, 0)
            self.assertEqual(partial.read_text(), before)
            self.assertTrue((folder / "page.html").is_symlink())
            self.assertIn("<html", (folder / "target.html").read_text())

    def test_run_that_flies_away(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            scene = folder / "fly.json"
            scene.write_text(json.dumps({"format": "tangere-scene", "version": 1, "bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 1}, "mass": 1, "velocity": [1e10, 0, 0, 0, 0, 0]}]}))
            result = run("simulate", str(scene), "--steps", "400", "--record", str(folder / "run.json"))
            self.assertEqual(result.returncode, 1)
            self.assertIn("a coordinate is beyond 1e+09", result.stderr)
            self.assertEqual(run("view", str(folder / "run.json.partial"), "--csv", str(folder / "out.csv")).returncode, 0)

    def test_slow_watchers_cost_nothing(self):
        """A watcher who does not read does not hold the run up."""
        with Server("simulate", str(SCENES / "mixed_stack.json"), "--steps", "1200", "--live", "--fps", "200") as server:
            start = time.monotonic()
            connection, status, rest = server.upgrade("/live?after=-1", server.origin)
            self.assertEqual(status, 101)
            while "the run is over" not in server.said:
                server.said += server.process.stdout.readline()
            # six simulated seconds; a run that waited for the watcher would never end
            self.assertLess(time.monotonic() - start, 200)
            heard = frames_of(connection, rest, 10_000)
            connection.close()
            self.assertEqual(heard[-2], "end 1201")
            self.assertLessEqual(len(heard), 1203)

    def test_watcher_far_behind_misses_frames(self):
        """Who reads too slowly gets the newest frame, not all that were missed."""
        with Server("simulate", str(SCENES / "humanoid.xml"), "--steps", "8000", "--dt", "0.001", "--live", "--fps", "1000") as server:
            connection, status, rest = server.upgrade("/live?after=-1", server.origin, receive_buffer=4096)
            self.assertEqual(status, 101)
            while "the run is over" not in server.said:
                server.said += server.process.stdout.readline()
            heard = frames_of(connection, rest, 20_000)
            connection.close()
            self.assertEqual(heard[-2], "end 8001")
            times = [json.loads(line)["t"] for line in heard[:-2]]
            self.assertEqual(times, sorted(set(times)))
            self.assertLess(len(times), 7000)
            self.assertAlmostEqual(times[-1], 8.0)

    def test_silent_connections_do_not_lock_others_out(self):
        with Server("view", str(SCENES / "arm.urdf")) as server:
            silent = [server.connect() for _ in range(200)]
            start = time.monotonic()
            self.assertEqual(server.request("/recording")[0], 200)
            self.assertLess(time.monotonic() - start, 9)
            for connection in silent:
                connection.close()

    def test_watchers_hear_that_the_command_ends(self):
        with Server("simulate", str(SCENES / "mixed_stack.json"), "--steps", "100000", "--live") as server:
            connection, status, rest = server.upgrade("/live?after=-1", server.origin)
            self.assertEqual(status, 101)
        heard = frames_of(connection, rest, 100_000)
        connection.close()
        self.assertEqual(server.code, 130)
        self.assertEqual(heard[-2:], ["gone", None])


if __name__ == "__main__":
    unittest.main()
