#!/usr/bin/env python3
"""The real `tangere` command, from the outside.

    cli_test.py BINARY [unittest arguments]
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BINARY = ""
SCENES = Path(__file__).resolve().parent.parent.parent / "scenes"

SPHERE = {"type": "sphere", "radius": 1}


def spheres(distance, **more):
    """Two unit spheres: alpha is half the distance."""
    return {"a": {"shape": SPHERE}, "b": {"shape": SPHERE, "position": [distance, 0, 0]}, **more}


def run(*arguments, text=None, binary=False):
    return subprocess.run([BINARY, *arguments], input=text, capture_output=True, text=not binary, timeout=300)


def answers(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def query_file(self, content):
        """The result of a query file with these bytes, its answers checked to be one a line."""
        file = self.path / "queries.jsonl"
        file.write_bytes(content)
        return run("query", str(file))

    # arguments

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^tangere \d+\.\d+\.\d+\n$")

    def test_help(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        for command in ("demo", "query", "inspect", "simulate", "view", "doctor"):
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

    # inspect

    def robot_file(self, more=""):
        """An arm with one hinge in line 4, and a gripper fixed to it."""
        file = self.path / "arm.urdf"
        file.write_text(f"""<robot name="arm">
<link name="base"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
<link name="fore"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="fore"/><limit lower="-1" upper="2"/></joint>
<link name="grip"><inertial><mass value="0.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="weld" type="fixed"><parent link="fore"/><child link="grip"/></joint>
{more}</robot>""")
        return str(file)

    def test_inspect(self):
        result = run("inspect", self.robot_file())
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("arm\n"))
        self.assertRegex(result.stdout, r"nq +1\n +nv +1\n +mass +2.5 kg\n")
        self.assertRegex(result.stdout, r"1 +fore +base +hinge +revolute +0 +\[-1, 2\] +2 +- +0\n")
        self.assertRegex(result.stdout, r"0 +base +world +root_joint +fixed +- +0 +box +0\n")
        self.assertNotIn("notice", result.stdout)

    def test_inspect_free_base(self):
        file = self.path / "rod.urdf"
        file.write_text("""<robot name="rod"><link name="rod"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>""")
        self.assertRegex(run("inspect", str(file), "--base", "free").stdout, r"root_joint +free +0-5 ")
        # a base without mass turns with its only hinge: nothing could tell the two apart
        result = run("inspect", self.robot_file(), "--base", "free")
        self.assertEqual(result.returncode, 2)
        self.assertIn("moves nothing that has inertia of its own", result.stderr)

    def test_inspect_for_machines(self):
        result = run("inspect", self.robot_file("<gazebo/>"), "--json")
        self.assertEqual(result.returncode, 0)
        report = json.loads(result.stdout)
        self.assertEqual((report["name"], report["nq"], report["nv"], report["mass"]), ("arm", 1, 1, 2.5))
        base, fore, grip = report["bodies"]
        self.assertEqual(base["shapes"][0]["shape"], {"type": "box", "size": [1, 1, 1]})
        self.assertEqual(fore["joint"]["dofs"][0]["upper"], 2)
        self.assertIsNone(fore["joint"]["dofs"][0]["effort"])
        self.assertEqual((grip["parent"], grip["joint"]["type"], grip["mass"]), ("fore", "fixed", 0.5))
        self.assertEqual(report["notices"][0]["line"], 7)

    def test_inspect_details(self):
        """What a model knows is in the JSON, and what people look for in the text."""
        urdf = self.robot_file("""<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 3"/><geometry><sphere radius="2"/></geometry></visual></link>
<joint name="follower" type="prismatic"><parent link="grip"/><child link="tip"/><origin xyz="1 2 3"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="7" velocity="8"/><dynamics damping="0.25" friction="0.125"/><mimic joint="hinge" multiplier="2" offset="-0.5"/></joint>""")
        tip = json.loads(run("inspect", urdf, "--json").stdout)["bodies"][3]
        joint = tip["joint"]
        self.assertEqual(joint["axis"], [0, 0, 1])
        self.assertEqual(joint["in_parent"], {"position": [1, 2, 3], "quaternion": [0, 0, 0, 1]})
        self.assertEqual(joint["mimic"], {"joint": "hinge", "multiplier": 2, "offset": -0.5})
        self.assertEqual([joint["dofs"][0][key] for key in ("lower", "effort", "velocity", "damping", "friction")], [-1, 7, 8, 0.25, 0.125])
        self.assertEqual((tip["visuals"][0]["shape"], tip["visuals"][0]["position"]), ({"type": "sphere", "radius": 2}, [0, 0, 3]))
        text = run("inspect", urdf).stdout
        self.assertRegex(text, r"follower +0 0 1 +8 +7 +0.25 +0.125 +- +- +2 hinge - 0.5\n")
        self.assertRegex(text, r"base +box +1 1 1 +0 0 0 +1 ")

        mjcf = self.path / "robot.xml"
        mjcf.write_text("""<mujoco model="m"><compiler angle="radian"/><worldbody>
<body name="a"><joint name="j"/><geom size="0.1" contype="2" conaffinity="3" friction="0.5"/></body>
<body name="b" pos="1 0 0"><freejoint name="f"/><geom size="0.1"/></body></worldbody>
<contact><exclude body1="a" body2="b"/></contact>
<equality><connect name="tie" body1="a" body2="b" anchor="0.5 0 0"/></equality>
<actuator><position name="servo" joint="j" kp="30" ctrlrange="-1 2"/></actuator>
<keyframe><key name="home" qpos="0.5 1 0 0 1 0 0 0" ctrl="0.5"/></keyframe></mujoco>""")
        report = json.loads(run("inspect", str(mjcf), "--json").stdout)
        self.assertEqual(report["excluded_pairs"], [["a", "b"]])
        servo = report["actuators"][0]
        self.assertEqual([servo[key] for key in ("kind", "dof", "gain", "upper_control", "upper_force")], ["position", "j", 30, 2, None])
        tie = report["constraints"][0]
        self.assertEqual((tie["kind"], tie["body_a"], tie["in_a"]["position"]), ("connect", "a", [0.5, 0, 0]))
        home = [key for key in report["keyframes"] if key["name"] == "home"][0]
        self.assertEqual((home["q"][0], home["control"]), (0.5, [0.5]))
        self.assertEqual(len(report["start"]["q"]), report["nq"])
        self.assertEqual(report["bodies"][0]["shapes"][0]["friction"], 0.5)
        self.assertTrue(all(isinstance(report["bodies"][0]["shapes"][0][key], int) for key in ("group", "mask")))
        text = run("inspect", str(mjcf)).stdout
        self.assertRegex(text, r"servo +position +j +1 +30 +\[-1, 2\]\n")
        self.assertRegex(text, r"tie +connect +a +b\n")
        self.assertRegex(text, r"never collide\n +a +b\n")

    def test_inspect_names_obey(self):
        """Control characters of names do not reach a terminal."""
        file = self.path / "scene.json"
        file.write_text(json.dumps({"format": "tangere-scene", "version": 1, "bodies": [
            {"name": "ball\x1b[2J\x9b", "shape": {"type": "sphere", "radius": 1}}]}))
        result = run("inspect", str(file))
        self.assertEqual(result.returncode, 0)
        self.assertIn("ball?[2J?", result.stdout)
        self.assertNotIn("\x1b", result.stdout)
        file.write_text(json.dumps({"format": "tangere-scene", "version": 1, "bodies": [
            {"name": "\x1b[2Jball", "shape": {"type": "sphere", "radius": 1}}] * 2}))
        result = run("inspect", str(file))
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("\x1b", result.stderr)
        self.assertIn("?[2Jball", result.stderr)

    def test_inspect_notices(self):
        file = self.robot_file("<gazebo/>")
        result = run("inspect", file)
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 notice\n", result.stdout)
        self.assertIn("arm.urdf:7: robot[arm]/gazebo: this element is not used", result.stdout)
        strict = run("inspect", file, "--strict")
        self.assertEqual((strict.returncode, strict.stdout), (2, ""))
        self.assertIn("arm.urdf:7", strict.stderr)

    def test_inspect_export(self):
        for form in ("urdf", "mjcf"):
            result = run("inspect", self.robot_file(), "--export", form)
            self.assertEqual(result.returncode, 0, result.stderr)
            again = self.path / f"again.{form}"
            again.write_text(result.stdout)
            self.assertRegex(run("inspect", str(again)).stdout, r"nv +1\n +mass +2.5 kg\n")

    def test_inspect_export_with_meshes(self):
        (self.path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        file = self.robot_file("""<link name="x"><collision><geometry><mesh filename="t.obj"/></geometry></collision>
<visual><geometry><mesh filename="t.obj"/></geometry></visual></link>
<joint name="j" type="fixed"><parent link="base"/><child link="x"/></joint>""")
        refused = run("inspect", file, "--export", "urdf")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("a mesh needs a file", refused.stderr)
        for form in ("urdf", "mjcf"):
            again = self.path / "elsewhere" / f"again.{form}"
            again.parent.mkdir(exist_ok=True)
            result = run("inspect", file, "--export", form, "--output", str(again))
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            report = json.loads(run("inspect", str(again), "--json").stdout)
            body = [body for body in report["bodies"] if body["name"] == "x"][0]
            self.assertEqual(len(body["shapes"][0]["shape"]["A"]), 4)
            self.assertEqual(body["visuals"][0]["mesh"]["triangles"], 4)
        self.assertEqual(run("inspect", file, "--output", "x").returncode, 2)

    def test_inspect_bad_files(self):
        for content, message in (
            ("", "there is no XML in it"),
            ("<sdf/>", "bad.urdf:1: sdf: must be <robot> (URDF) or <mujoco> (MJCF)"),
            ("<robot name='r'>\n<link name='a'/>\n<link name='a'/></robot>", "bad.urdf:3: robot[r]/link[a].name: there is a link"),
        ):
            file = self.path / "bad.urdf"
            file.write_text(content)
            result = run("inspect", str(file))
            self.assertEqual((result.returncode, result.stdout), (2, ""), content)
            self.assertIn(message, result.stderr)
        missing = self.robot_file("""<link name="x"><collision><geometry><mesh filename="package://p/m.stl"/></geometry></collision></link>
<joint name="j" type="fixed"><parent link="base"/><child link="x"/></joint>""")
        result = run("inspect", missing, "--package-path", "/one", "--package-path", "/two")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/one/p/m.stl", result.stderr)
        self.assertIn("/two/p/m.stl", result.stderr)
        self.assertIn("there is no such file", run("inspect", str(self.path / "none.urdf")).stderr)

    # simulate

    def simulate(self, scene, *arguments, code=0):
        """The report of a run of one of our scenes."""
        result = run("simulate", str(SCENES / scene), "--json", *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")  # no progress bar: not a terminal
        return json.loads(result.stdout)

    def test_simulate(self):
        result = run("simulate", str(SCENES / "mixed_stack.json"), "--steps", "200")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("mixed_stack\n"))
        self.assertRegex(result.stdout, r"bodies +6\n +coordinates +nq 35, nv 30, nu 30\n")
        self.assertRegex(result.stdout, r"simulated +1 s: 200 steps of 0.005 s\n")
        self.assertRegex(result.stdout, r"wall +[\d.e+-]+ s: \d+ steps/s")
        self.assertRegex(result.stdout, r"contacts +mean \d+\.\d, most \d+\n")
        self.assertRegex(result.stdout, r"islands +\d+, solved by: previous_sets [\d.]+ %")
        self.assertRegex(result.stdout, r"approximate +0 steps")
        self.assertRegex(result.stdout, r"energy +3[67]\.\d+ J: kinetic ")
        self.assertRegex(result.stdout, r"pipe +1 0.5 0.15\n")
        self.assertNotRegex(result.stdout, r"floor +\S+ \S+ \S+\n")

    def test_simulate_names_what_overlaps(self):
        box = {"type": "box", "size": [0.2, 0.2, 0.2]}
        file = self.path / "overlap.json"
        file.write_text(json.dumps({"format": "tangere-scene", "version": 1, "bodies": [
            {"name": "shelf", "fixed": True, "shape": box},
            {"name": "book", "shape": box, "position": [0, 0, 0.15]},
            {"name": "vase", "shape": box, "position": [0, 0, 0.3499]}]}))
        result = run("simulate", str(file), "--steps", "1")
        self.assertIn("These overlap at the start", result.stdout)
        self.assertIn("shelf and book by 0.05 m", result.stdout)
        self.assertNotIn("book and vase", result.stdout)
        overlaps = json.loads(run("simulate", str(file), "--steps", "1", "--json").stdout)["start_overlaps"]
        self.assertEqual([one["bodies"] for one in overlaps], [["shelf", "book"]])
        self.assertAlmostEqual(overlaps[0]["depth"], 0.05)
        self.assertNotIn("start_overlaps", self.simulate("mixed_stack.json", "--steps", "1"))

    def test_simulate_for_machines(self):
        report = self.simulate("mixed_stack.json", "--steps", "100", "--dt", "0.002")
        self.assertEqual((report["name"], report["bodies"], report["nv"], report["steps"]), ("mixed_stack", 6, 30, 100))
        self.assertAlmostEqual(report["simulated_seconds"], 0.2)
        self.assertEqual(sum(report["stages"].values()), report["islands"])
        self.assertGreater(report["previous_sets_rate"], 0.5)
        self.assertGreaterEqual(report["contacts"]["most"], report["contacts"]["mean"])
        self.assertAlmostEqual(report["energy"]["total"], report["energy"]["kinetic"] + report["energy"]["potential"])
        heights = {pose["body"]: pose["position"][2] for pose in report["poses"]}
        for body, height in (("floor", 0), ("crate", 0.2), ("can", 0.65), ("pebble", 1.02)):
            self.assertAlmostEqual(heights[body], height, places=3)
        # the same bits again, and other ones from a disturbed start
        self.assertEqual(self.simulate("mixed_stack.json", "--steps", "100", "--dt", "0.002")["poses"], report["poses"])
        disturbed = [self.simulate("mixed_stack.json", "--steps", "100", "--dt", "0.002", "--seed", seed)["poses"] for seed in "112"]
        self.assertEqual(disturbed[0], disturbed[1])
        self.assertNotEqual(disturbed[0], disturbed[2])
        self.assertNotEqual(disturbed[0], report["poses"])

    def test_simulate_control(self):
        still = self.simulate("pendulum.urdf", "--steps", "100")
        self.assertAlmostEqual(still["energy"]["total"], -4.905)
        self.assertGreater(self.simulate("pendulum.urdf", "--steps", "100", "--u", "-3")["energy"]["total"], -4.9)
        self.assertEqual(self.simulate("pendulum.urdf", "--steps", "0")["contacts"], {"mean": 0, "most": 0})

    def test_simulate_record(self):
        file = self.path / "run.json"
        report = self.simulate("mixed_stack.json", "--steps", "100", "--record", str(file))
        # 5 ms a step, at most 60 frames a second: every fourth step, and the start
        self.assertEqual(report["recording"], {"file": str(file), "frames": 26})
        recording = json.loads(file.read_text())
        self.assertEqual((recording["format"], recording["version"], recording["name"]), ("tangere-recording", 1, "mixed_stack"))
        self.assertEqual(recording["bodies"], ["floor", "crate", "can", "pebble", "pipe", "dumbbell"])
        self.assertEqual(len(recording["shapes"]), 8)
        self.assertEqual(recording["shapes"][1]["shape"], {"type": "box", "size": [1, 1, 0.4]})
        self.assertEqual(len(recording["frames"]), 26)
        last = recording["frames"][-1]
        self.assertAlmostEqual(last["t"], 0.5)
        self.assertEqual(last["poses"], [pose["position"] + pose["quaternion"] for pose in report["poses"]])
        self.assertTrue(all(set(contact) == {"bodies", "type", "point", "normal", "impulse", "distance"} for contact in last["contacts"]))
        self.assertEqual([channel["name"] for channel in recording["channels"]],
                         ["energy", "kinetic_energy", "potential_energy", "num_contacts", "impulse"])
        self.assertTrue(all(len(frame["values"]) == 5 for frame in recording["frames"]))
        self.assertAlmostEqual(last["values"][0], report["energy"]["total"])
        self.assertEqual(recording["made_by"]["command"], "simulate " + str(SCENES / "mixed_stack.json"))
        self.assertTrue(recording["complete"])
        self.assertEqual(self.simulate("mixed_stack.json", "--steps", "100", "--record", str(file), "--fps", "10")["recording"]["frames"], 6)
        self.assertEqual(os.listdir(self.path), ["run.json"])

    def test_simulate_stamp(self):
        """What a recording says of its run is enough to make it again; outputs do not overwrite each other."""
        file = self.path / "run.json"
        seed = "18446744073709551615"
        result = run("simulate", str(SCENES / "cartpole.xml"), "--steps", "2", "--seed", seed, "--u", "0.5", "--fps", "30",
                     "--dt", "0.002", "--record", str(file))
        self.assertEqual(result.returncode, 0, result.stderr)
        made_by = json.loads(file.read_text())["made_by"]
        self.assertEqual(made_by["seed"], seed)
        for name, value in (("u", "0.5"), ("fps", "30"), ("dt", "0.002"), ("steps", "2"), ("contact", "lcp")):
            self.assertEqual(made_by["options"][name], value)
        self.assertEqual(run("view", str(file), "--csv", str(self.path / "run.csv")).returncode, 0)
        before = file.read_text()
        for arguments in (("simulate", str(SCENES / "cartpole.xml"), "--steps", "2", "--record", str(file), "--html", str(file)),
                          ("view", str(file), "--csv", str(file))):
            result = run(*arguments)
            self.assertEqual((result.returncode, file.read_text() == before), (2, True))
            self.assertIn("is the file of", result.stderr)

    def test_simulate_interrupted(self):
        """An older recording stays as it is; what there is of the new one can be read."""
        file = self.path / "run.json"
        file.write_text("older")
        with subprocess.Popen([BINARY, "simulate", str(SCENES / "mixed_stack.json"), "--steps", "100000000", "--record", str(file)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while len(os.listdir(self.path)) < 2:
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            self.assertIn("interrupted, what there is is in " + str(file) + ".partial", process.stderr.read())
            self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual(sorted(os.listdir(self.path)), ["run.json", "run.json.partial"])
        self.assertEqual(file.read_text(), "older")
        result = run("view", str(file) + ".partial", "--csv", str(self.path / "run.csv"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("did not come to its end", result.stderr)

    def test_simulate_check_gradients(self):
        for scene, nv, nu in (("half_cheetah.xml", 9, 6), ("pendulum.urdf", 1, 1)):
            gradients = self.simulate(scene, "--check-gradients", "--seed", "1")["gradients"]
            self.assertTrue(gradients["passed"])
            self.assertEqual((gradients["steps"], gradients["columns"]), (20, 20 * (2 * nv + nu)))
            self.assertGreater(gradients["compared"], 0.9 * gradients["columns"])
            self.assertEqual([block["name"] for block in gradients["blocks"]], ["dq'/dq", "dv'/dq", "dq'/dv", "dv'/dv", "dv'/du"])
            for block in gradients["blocks"]:
                self.assertLess(block["worst"], 1e-5)
        result = run("simulate", str(SCENES / "pendulum.urdf"), "--steps", "7", "--check-gradients")
        self.assertIn("gradients of 7 steps against differences: PASS\n", result.stdout)
        self.assertRegex(result.stdout, r"dv'/du +worst \S+")

    def test_simulate_smooth(self):
        for scene, kappa in (("mixed_stack.json", "1e-4"), ("half_cheetah.xml", "1e-3")):
            arguments = ("--contact", "single_level", "--kappa", kappa, "--steps", "3", "--check-gradients", "--seed", "1")
            report = self.simulate(scene, *arguments)
            self.assertEqual(report["contact"], "single_level")
            self.assertEqual(report["approximate_steps"], 0)
            self.assertGreaterEqual(sum(report["starts"].values()), 3)
            self.assertGreater(report["iterations"], 3)
            self.assertTrue(report["gradients"]["passed"])
            self.assertGreater(report["gradients"]["compared"], 0.9 * report["gradients"]["columns"])

    def test_simulate_smooth_bounces(self):
        ball = {"type": "sphere", "radius": 0.1}
        floor = {"type": "halfspace", "normal": [0, 0, 1]}
        heights = {}
        for restitution in (0.0, 1.0):
            file = self.path / "bouncy.json"
            record = self.path / f"bouncy{restitution}.out.json"
            file.write_text(json.dumps({"format": "tangere-scene", "version": 1, "time_step": 0.01, "bodies": [
                {"name": "floor", "fixed": True, "shape": floor, "restitution": restitution},
                {"name": "ball", "shape": ball, "position": [0, 0, 0.6], "restitution": restitution}]}))
            result = run("simulate", str(file), "--steps", "60", "--contact", "single_level", "--record", str(record))
            self.assertEqual(result.returncode, 0, result.stderr)
            frames = json.loads(record.read_text())["frames"]
            heights[restitution] = frames[-1]["poses"][-1][2]
        self.assertLess(heights[0.0], 0.11)
        self.assertGreater(heights[1.0], 0.4)

    def test_simulate_points(self):
        scene = str(SCENES / "mixed_stack.json")
        self.assertEqual(run("simulate", scene, "--steps", "20", "--contact", "single_level", "--points", "4").returncode, 0)
        for arguments, told in ((("--contact", "single_level", "--points", "9"), "--points: must be between 1 and 5"), (("--points", "3"), "is for smooth contact")):
            result = run("simulate", scene, "--steps", "5", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(told, result.stderr)

    def test_simulate_bad_arguments(self):
        stack = str(SCENES / "mixed_stack.json")
        bad = self.path / "bad.json"
        bad.write_text('{"format": "tangere-scene", "version": 1, "bodies": [{"name": "a", "colour": 1}]}')
        for arguments, message in (
            ([stack, "--dt", "0"], "--dt: must be above 0"),
            ([stack, "--dt", "-0.1"], "--dt: must be above 0"),
            ([stack, "--dt", "nan"], "--dt: must be above 0"),
            ([stack, "--steps", "-1"], "--steps: must not be negative"),
            ([stack, "--kappa", "1e-3"], "--kappa: is for smooth contact"),
            ([stack, "--base", "free"], "--base: is for a URDF"),
            ([stack, "--contact", "single_level", "--kappa", "0"], "simulate: --kappa: must be between 1e-12 and 0.1, got 0"),
            ([stack, "--fps", "0"], "--fps: must be above 0"),
            ([stack, "--u", "1,2"], "--u: needs 30 numbers, got 2"),
            ([str(SCENES / "pendulum.urdf"), "--u", "nan"], "--u: must be finite"),
            ([str(self.path / "none.json")], "none.json"),
            ([str(bad)], "colour"),
            ([stack, "--record", str(self.path / "none" / "out.json")], "none/out.json: cannot be written: No such file"),
            ([stack, "--record", str(self.path)], "it is a folder"),
        ):
            result = run("simulate", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertIn(message, result.stderr)
        # what goes wrong on the way is no bad input
        result = run("simulate", str(SCENES / "pendulum.urdf"), "--u", "1e308")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("step 0: the next state would not be finite", result.stderr)
        self.assertIn("max |u| = 1e+308", result.stderr)

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

    # demo

    def test_experiment(self):
        listed = run("experiment")
        self.assertEqual(listed.returncode, 0)
        self.assertIn("nimble_drone", listed.stdout)
        for name in ("nimble_drone", "nimble_balls", "nimble_sets"):
            result = run("experiment", name)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("\n  MET\n", result.stdout)
        answer = json.loads(run("experiment", "nimble_balls", "--json").stdout)
        self.assertTrue(answer["nimble_balls"]["met"])
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

    def test_experiment_scenes(self):
        for name in ("silico_tower", "silico_peg", "silico_bundles", "silico_tower_3d", "silico_stack_3d", "silico_bundles_3d"):
            result = run("experiment", name, "--output", str(self.path / "results"))
            self.assertEqual(result.returncode, 0, result.stdout)

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
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
