#!/usr/bin/env python3
"""The real `tangere` command from the outside: arguments, query, doctor, experiment and demo. (inspect, simulate and view have files of their own.)

    cli_test.py BINARY [unittest arguments]
"""

import fcntl
import json
import os
import re
import subprocess
import sys
import unittest

from command import BINARY, SCENES, CommandTest, run

SPHERE = {"type": "sphere", "radius": 1}


def spheres(distance, **more):
    """Two unit spheres: alpha is half the distance."""
    return {"a": {"shape": SPHERE}, "b": {"shape": SPHERE, "position": [distance, 0, 0]}, **more}


def answers(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


class CliTest(CommandTest):
    def query_file(self, content):
        """The result of a query file with these bytes, its answers checked to be one a line."""
        file = self.path / "queries.jsonl"
        file.write_bytes(content)
        return run("query", str(file))

    # arguments

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^tangere \d+\.\d+\.\d+( \([0-9a-f]+(-dirty)?\))?\n$")

    def test_help(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        for command in ("demo", "query", "clearance", "inspect", "simulate", "view", "doctor", "experiment"):
            self.assertIn(command, result.stdout)
            self.assertEqual(run(command, "--help").returncode, 0)

    def test_wrong_arguments(self):
        for arguments in ([], ["dance"], ["query"], ["query", "a", "b"], ["--nonsense"], ["doctor", "--nonsense"], ["demo", "--seed", "x"], ["demo", "--seed", "-1"],
                          ["simulate", str(SCENES / "cartpole.xml"), "--seed", "-1"], ["inspect"],
                          ["inspect", "a", "--base", "floating"], ["inspect", "a", "--export", "sdf"], ["simulate"],
                          ["simulate", "a", "--contact", "magic"], ["simulate", "a", "--steps", "1.5"], ["simulate", "a", "--u", "x"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "", arguments)
            self.assertIn("Usage", result.stderr, arguments)
        self.assertIn("--seed: must be a whole number and not negative, got -1", run("demo", "--seed", "-1").stderr)

    def test_sweeps_are_of_python(self):
        for arguments in (["sweep", "status", "nowhere"], ["experiment", "silico_drop", "--engine", "local"]):
            for python, says in (("/nonexistent", "cannot be started"), (sys.executable, "pip install tangere[sweep]")):
                environment = {**os.environ, "TANGERE_PYTHON": python, "PYTHONPATH": "", "PYTHONNOUSERSITE": "1"}
                result = subprocess.run([BINARY, *arguments], capture_output=True, text=True, env=environment, timeout=60,
                                        cwd=self.path)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(says, result.stderr)

    # query

    def test_good_and_bad_lines(self):
        lines = [
            json.dumps(spheres(3, derivatives="gradient", tolerance=1e-10)),
            json.dumps({"a": {"shape": {"type": "sphere", "radius": -1}}, "b": {"shape": SPHERE}}),
            "",
            "{not json",
            json.dumps(spheres(8, id="far")),
            json.dumps({"a": {"shape": {"type": "sphre", "radius": 1}}, "b": {"shape": SPHERE}}),
            "   ",
            json.dumps(spheres(1)),
        ]
        result = self.query_file(("\n".join(lines) + "\n").encode())
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "")
        first, negative, malformed, far, unknown, last = answers(result)

        self.assertEqual(first["status"], "solved")
        self.assertAlmostEqual(first["alpha"], 1.5, places=7)
        for actual, expected in zip(first["normal"], [1, 0, 0]):
            self.assertAlmostEqual(actual, expected, places=6)
        for actual, expected in zip(first["gradient"]["b"], [0.5, 0, 0, 0, 0, 0]):
            self.assertAlmostEqual(actual, expected, places=7)
        self.assertEqual(negative["error"]["line"], 2)
        self.assertEqual(negative["error"]["field"], "a.shape.radius")
        self.assertIn("must be positive", negative["error"]["message"])
        self.assertEqual(malformed["error"]["line"], 4)
        self.assertEqual(malformed["error"]["column"], 3)
        self.assertEqual(far["id"], "far")
        self.assertAlmostEqual(far["alpha"], 4.0, places=6)
        self.assertEqual(unknown["error"]["line"], 6)
        self.assertEqual(unknown["error"]["field"], "a.shape.type")
        self.assertAlmostEqual(last["alpha"], 0.5, places=7)

    def test_all_good(self):
        result = self.query_file("".join(json.dumps(spheres(d)) + "\n" for d in (1, 2, 3)).encode())
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(answers(result)), 3)

    def test_empty_file(self):
        for content in (b"", b"\n", b" \r\n\t\n"):
            result = self.query_file(content)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_line_endings(self):
        line = json.dumps(spheres(3)).encode()
        for content in (line, b"\xef\xbb\xbf" + line + b"\n", line + b"\r\n" + line + b"\r\n", b"\xef\xbb\xbf\r\n" + line):
            result = self.query_file(content)
            self.assertEqual(result.returncode, 0, content)
            for answer in answers(result):
                self.assertAlmostEqual(answer["alpha"], 1.5, places=7)

    def test_binary_garbage(self):
        result = self.query_file(bytes(range(256)) * 4 + b"\n" + json.dumps(spheres(3)).encode())
        self.assertEqual(result.returncode, 2)
        *bad, good = answers(result)
        self.assertTrue(bad)
        self.assertTrue(all("error" in answer for answer in bad))
        self.assertAlmostEqual(good["alpha"], 1.5, places=7)

    def test_too_large_sum(self):
        sum_ = {"type": "minkowski_sum", "parts": [{"shape": {"type": "cone", "height": 0.5, "half_angle": 0.3}}] * 40}
        large = {"a": {"shape": sum_}, "b": {"shape": {"type": "sphere", "radius": 1}, "position": [20, 0, 0]}}
        result = self.query_file((json.dumps(large) + "\n" + json.dumps(spheres(3)) + "\n").encode())
        self.assertEqual(result.returncode, 2)
        bad, good = answers(result)
        self.assertEqual((bad["error"]["line"], bad["error"]["field"]), (1, "a.shape.parts"))
        self.assertIn("at most 64 are supported", bad["error"]["message"])
        self.assertAlmostEqual(good["alpha"], 1.5, places=7)

    def test_long_line(self):
        result = self.query_file(b" " * (17 << 20) + b"{}\n" + json.dumps(spheres(3)).encode())
        self.assertEqual(result.returncode, 2)
        too_long, good = answers(result)
        self.assertEqual(too_long["error"]["line"], 1)
        self.assertIn("longer than 16 MiB", too_long["error"]["message"])
        self.assertAlmostEqual(good["alpha"], 1.5, places=7)

    def test_standard_input(self):
        result = run("query", "-", text=json.dumps(spheres(3)))
        self.assertEqual(result.returncode, 0)
        self.assertAlmostEqual(answers(result)[0]["alpha"], 1.5, places=7)

    def test_interactive(self):
        """Each answer arrives before the next question is asked."""
        with subprocess.Popen([BINARY, "query", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            for distance in (2, 4, 6):
                process.stdin.write(json.dumps(spheres(distance)) + "\n")
                process.stdin.flush()
                self.assertAlmostEqual(json.loads(process.stdout.readline())["alpha"], distance / 2, places=6)
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)

    def test_missing_file(self):
        result = run("query", str(self.path / "nowhere.jsonl"))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("nowhere.jsonl", result.stderr)
        self.assertIn("No such file", result.stderr)

    def test_folder_as_file(self):
        result = run("query", str(self.path))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("directory", result.stderr)

    def test_closed_output(self):
        """A reader that leaves early is no reason to complain."""
        file = self.path / "queries.jsonl"
        file.write_text((json.dumps(spheres(3)) + "\n") * 5000)
        with subprocess.Popen([BINARY, "query", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), "")
            process.wait(timeout=60)

    # doctor

    def test_doctor(self):
        result = run("doctor")
        self.assertEqual(result.returncode, 0, result.stdout)
        for word in ("compiler", "Eigen", "Qhull", "nlohmann-json", "CLI11", "sphere - sphere", "all is well"):
            self.assertIn(word, result.stdout)

    def test_doctor_for_machines(self):
        result = run("doctor", "--json")
        self.assertEqual(result.returncode, 0)
        report = json.loads(result.stdout)
        self.assertTrue(report["passed"])
        self.assertTrue(all(check["passed"] for check in report["checks"]))
        self.assertRegex(report["libraries"]["Eigen"], r"^3\.\d+\.\d+$")
        self.assertRegex(report["libraries"]["Qhull"], r"^\d")
        self.assertIn(report["vector_bits"], (128, 256, 512))

    # experiments and demo

    def test_experiment(self):
        listed = run("experiment")
        self.assertEqual(listed.returncode, 0)
        self.assertIn("nimble_drone", listed.stdout)
        for name in ("nimble_drone", "nimble_balls", "nimble_sets"):
            result = run("experiment", name, "--output", str(self.path))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("\n  MET\n", result.stdout)
        answer = json.loads(run("experiment", "nimble_balls", "--json", "--output", str(self.path / "again")).stdout)
        self.assertTrue(answer["nimble_balls"]["met"])
        self.assertRegex(answer["nimble_balls"]["made_by"]["program"], r"^tangere \d")
        wrong = run("experiment", "nobody")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("nimble_drone", wrong.stderr)
        self.assertEqual(run("experiment", "nimble_drone", "--scenes", "/nowhere").returncode, 2)

    def test_experiment_tables(self):
        folder = self.path / "results"
        arguments = ("--runs", "1", "--output", str(folder), "--json")
        first = json.loads(run("experiment", "silico_drop", *arguments).stdout)["silico_drop"]
        self.assertEqual((first["result"]["failed_runs"], first["result"]["runs"]), (0, 36))
        self.assertTrue(first["met"])
        self.assertEqual((first["runs_a_cell"], first["part"]), (1, True))
        self.assertIn("MET by a part: 1 of 100 runs in every cell", run("experiment", "silico_drop", *arguments[:-1], "--resume").stdout)
        self.assertIn("<svg", (folder / "silico_drop.svg").read_text())
        log = folder / "silico_drop.jsonl"
        lines = log.read_text().splitlines(keepends=True)
        self.assertEqual(len(lines), 36)
        # interrupted within a line: that cell is made again, the others are not
        changed = json.loads(lines[0])
        changed["result"]["iterations"] = 1000.0
        log.write_text(json.dumps(changed) + "\n" + "".join(lines[1:-1]) + lines[-1][:20])
        second = json.loads(run("experiment", "silico_drop", *arguments, "--resume").stdout)["silico_drop"]
        self.assertEqual(second["result"]["cells"][0]["result"]["iterations"], 1000.0)
        self.assertEqual(second["result"]["cells"][35], first["result"]["cells"][35])
        self.assertEqual(len(log.read_text().splitlines()), 36)
        log.write_text("no result\n" + lines[0])
        broken = run("experiment", "silico_drop", *arguments, "--resume")
        self.assertEqual(broken.returncode, 2)
        self.assertIn("silico_drop.jsonl:1: is no result of an experiment", broken.stderr)

    def test_experiment_keeps_results(self):
        """An older result is not overwritten unasked, a torn end is mended and told, and a second process is refused."""
        arguments = ("experiment", "silico_drop", "--runs", "1", "--output", str(self.path))
        log = self.path / "silico_drop.jsonl"
        self.assertEqual(run(*arguments).returncode, 0)
        whole = log.read_text()
        lines = whole.splitlines(keepends=True)
        made_by = json.loads(lines[0])["made_by"]
        self.assertRegex(made_by["program"], r"^tangere \d+\.\d+\.\d+$")
        self.assertRegex(made_by["commit"], r"^([0-9a-f]{7,}(-dirty)?|unknown)$")
        self.assertIn(made_by["commit"], run("--version").stdout)
        refused = run(*arguments)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("silico_drop.jsonl: holds 36 results of an earlier run: --resume goes on", refused.stderr)
        self.assertEqual(log.read_text(), whole)
        self.assertEqual(run(*arguments, "--resume", "--overwrite").returncode, 2)

        # without its line break the last result counts; cut short it does not, and nothing is glued
        for text, told in ((whole[:-1], "silico_drop.jsonl:36: the last line has no end: it is a whole result and counts"),
                           (whole[:-9], "silico_drop.jsonl:36: the last line has no end: dropped, that result is made again")):
            log.write_text(text)
            resumed = run(*arguments, "--resume")
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertIn(told, resumed.stderr)
            self.assertEqual(log.read_text(), whole)
            self.assertEqual(run(*arguments, "--resume").stderr, "")

        # results of another version are kept, and told
        other = json.loads(lines[0])
        other["made_by"]["commit"] = "0123456"
        log.write_text(json.dumps(other) + "\n" + "".join(lines[1:]))
        self.assertIn('"commit":"0123456"', run(*arguments, "--resume").stderr)

        with open(log, "a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            for option in ("--resume", "--overwrite"):
                second = run(*arguments, option)
                self.assertEqual(second.returncode, 2)
                self.assertIn("another process writes its results there", second.stderr)
        self.assertEqual(run(*arguments, "--overwrite").returncode, 0)
        self.assertEqual(log.read_text(), whole)

    def test_full_device(self):
        """Every command that prints says so if its output was lost."""
        queries = self.path / "queries.jsonl"
        queries.write_text(json.dumps(spheres(3)) + "\n")
        arm = str(SCENES / "arm.urdf")
        for arguments in (("--help",), ("--version",), ("doctor",), ("doctor", "--json"), ("experiment",),
                          ("experiment", "nimble_balls", "--output", str(self.path)),
                          ("experiment", "nimble_balls", "--output", str(self.path), "--overwrite", "--json"),
                          ("inspect", arm), ("inspect", arm, "--json"), ("inspect", arm, "--export", "urdf"),
                          ("simulate", arm, "--steps", "3"), ("simulate", arm, "--steps", "3", "--json"),
                          ("query", str(queries))):
            with open("/dev/full", "w") as full:
                result = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertIn("tangere: cannot write standard output", result.stderr, arguments)

    def test_experiment_scenes(self):
        folder = self.path / "results"
        for name in ("silico_tower", "silico_peg", "silico_bundles", "silico_tower_3d", "silico_stack_3d", "silico_bundles_3d"):
            result = run("experiment", name, "--output", str(folder))
            self.assertEqual(result.returncode, 0, result.stdout)
            # a second run is read from the log, to the digit
            again = run("experiment", name, "--output", str(folder), "--resume")
            self.assertEqual(again.stdout, result.stdout)
            picture = (folder / f"{name}.svg").read_text()
            self.assertIn("<path d=\"M", picture)
            self.assertNotIn("nan", picture)

    def test_experiment_resumes(self):
        """Every experiment that takes long goes on where its log was cut, and refuses results of others."""
        folder = self.path / "results"
        for name, runs in (("silico_drop_3d", 1), ("silico_drop_two", 1), ("silico_drop_scales", 1), ("silico_timing", 2), ("silico_timing_3d", 1), ("silico_stack", 1)):
            arguments = ("experiment", name, "--runs", str(runs), "--output", str(folder), "--json")
            first = run(*arguments)
            log = folder / f"{name}.jsonl"
            lines = log.read_text().splitlines(keepends=True)
            self.assertGreater(len(lines), 5, name)
            self.assertIn("<path d=\"M", (folder / f"{name}.svg").read_text())
            # half of the lines, the last one in part
            half = len(lines) // 2
            log.write_text("".join(lines[:half]) + lines[half][:30])
            second = run(*arguments, "--resume")
            self.assertEqual(second.returncode, first.returncode, second.stderr)
            resumed = log.read_text().splitlines(keepends=True)
            self.assertEqual((len(resumed), resumed[:half]), (len(lines), lines[:half]))
            if not name.startswith("silico_timing"):
                self.assertEqual(second.stdout, first.stdout)
            damaged = json.loads(lines[0])
            damaged["result"] = {"other": 1}
            log.write_text(json.dumps(damaged) + "\n")
            refused = run(*arguments, "--resume")
            self.assertEqual(refused.returncode, 2, refused.stdout)
            self.assertIn(f"{name}.jsonl: has a result that is not one of this experiment", refused.stderr)

    def test_demo(self):
        output = self.path / "made" / "demo"
        recordings = self.path / "recordings"
        recordings.mkdir()
        (recordings / "other.json").write_text("{}")
        self.assertEqual(run("simulate", str(SCENES / "mixed_stack.json"), "--steps", "5", "--record", str(recordings / "short.json")).returncode, 0)
        result = run("demo", "--output", str(output), "--recordings", str(recordings))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("PASS: 77 combinations", result.stdout)
        self.assertIn("left out: ", result.stderr)
        self.assertRegex(result.stdout, r"An arm among things of every shape: .*\nPASS\n")
        self.assertIn(str(output / "index.html"), result.stdout)
        # the gallery links every page, and nothing that is not there
        gallery = (output / "index.html").read_text(encoding="utf-8")
        links = re.findall(r'href="([^"]*)"', gallery)
        pages = [file.name for file in output.glob("*.html") if file.name != "index.html"]
        if "sweep.html" in links:
            pages += ["experiments/index.html", "recordings/short.html"]
            self.assertIn("6 experiments of the papers, ", result.stdout)
            for link in re.findall(r'href="([^"]*)"', (output / "experiments" / "index.html").read_text(encoding="utf-8")):
                self.assertTrue((output / "experiments" / link).is_file(), link)
        self.assertEqual(sorted(links), sorted(pages))
        self.assertIn("pairs.html", links)
        if "sweep.html" in links:  # the viewer is built
            text = (output / "sweep.html").read_text(encoding="utf-8")
            sweep = json.loads(re.search(r'id="recording">(.*?)</script>', text, re.S).group(1))
            # the arm touches what is in its way
            # the humanoid falls on the floor, not through it
            text = (output / "humanoid.html").read_text(encoding="utf-8")
            fall = json.loads(re.search(r'id="recording">(.*?)</script>', text, re.S).group(1))
            self.assertGreater(min(pose[2] for pose in fall["frames"][-1]["poses"][1:]), -0.95)
            arm = {i for i, body in enumerate(sweep["bodies"]) if body in ("elbow", "forearm", "wrist", "flange")}
            self.assertTrue(any(set(contact["bodies"]) & arm for frame in sweep["frames"] for contact in frame["contacts"]))
            self.assertGreaterEqual(len({shape["shape"]["type"] for shape in sweep["shapes"]}), 10)
        page = (output / "pairs.html").read_text(encoding="utf-8")
        for name in ("apart", "touching", "overlapping"):
            picture = (output / f"{name}.svg").read_text(encoding="utf-8")
            self.assertTrue(picture.startswith("<svg"))
            self.assertIn(picture, page)
            self.assertIn(name, picture)
            self.assertNotIn("nan", picture)
        # self-contained
        self.assertNotIn("src=", page)
        self.assertNotIn("href=", page)

    def test_demo_without_folder(self):
        wrong = run("demo", "--output", str(self.path / "demo"), "--recordings", str(self.path / "nowhere"))
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("is not a folder", wrong.stderr)

    def test_demo_cannot_write(self):
        file = self.path / "file"
        file.write_text("")
        result = run("demo", "--output", str(file / "below"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot make the folder", result.stderr)


if __name__ == "__main__":
    unittest.main()
