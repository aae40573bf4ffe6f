#!/usr/bin/env python3
"""`tangere simulate` from the outside.

    simulate_test.py BINARY [unittest arguments]
"""

import json
import math
import os
import signal
import subprocess
import time
import unittest

from command import BINARY, SCENES, CommandTest, run


class SimulateTest(CommandTest):
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

    def servo_file(self):
        """A hinge with a weight beside it and a servo, in a keyframe that its control holds."""
        file = self.path / "servo.xml"
        file.write_text("""<mujoco><compiler angle="radian"/><option timestep=".01"/><worldbody><body name="arm">
<joint name="j" axis="0 1 0" damping="5"/><geom size=".1" mass="1" pos="0 0 -1"/></body></worldbody>
<actuator><position joint="j" kp="400"/></actuator><keyframe><key name="up" qpos=".5" ctrl=".5"/></keyframe></mujoco>""")
        return str(file)

    def angle(self, *arguments):
        report = json.loads(run("simulate", self.servo_file(), "--json", "--steps", "300", *arguments).stdout)
        x, y, z, w = report["poses"][0]["quaternion"]
        return 2 * math.atan2(y, w)

    def test_simulate_from_a_keyframe_under_control(self):
        self.assertAlmostEqual(self.angle("--keyframe", "up"), 0.5, delta=0.02)
        self.assertAlmostEqual(self.angle("--keyframe", "up", "--hold"), 0.5, delta=0.02)
        self.assertAlmostEqual(self.angle("--u", "0"), 0, delta=0.02)
        missing = run("simulate", self.servo_file(), "--keyframe", "down")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("--keyframe: the file has none called 'down'", missing.stderr)

    def test_simulate_by_controls_of_a_file(self):
        table = self.path / "u.csv"
        table.write_text("servo\n" + "0\n" * 100 + "0.25\n")
        self.assertAlmostEqual(self.angle("--controls", str(table)), 0.25, delta=0.02)
        listed = self.path / "u.json"
        listed.write_text(json.dumps([[0.0]] * 100 + [[0.25]]))
        self.assertAlmostEqual(self.angle("--controls", str(listed)), 0.25, delta=0.02)
        for text, error in (("1,2\n", "u.csv:1: needs 1 numbers, has 2"), ("1\nx\n", "u.csv:2: must be finite"),
                            ("\n", "u.csv: has no controls")):
            table.write_text(text)
            result = run("simulate", self.servo_file(), "--controls", str(table))
            self.assertEqual(result.returncode, 2)
            self.assertIn(error, result.stderr)

    def test_simulate_writes_jacobians(self):
        """A and B of a hinge by hand: v' = (I v + dt τ) / (I + dt d), q' = q + dt v'."""
        file = self.path / "J.jsonl"
        run("simulate", self.servo_file(), "--steps", "3", "--jacobians", str(file))
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual([line["step"] for line in lines], [0, 1, 2])
        A, B = lines[0]["A"], lines[0]["B"]
        self.assertEqual((len(A), len(A[0]), len(B), len(B[0])), (2, 2, 2, 1))
        for row in (*A, *B):
            self.assertTrue(all(math.isfinite(value) for value in row))
        # a change of the control moves the position by dt times the change of the velocity
        self.assertAlmostEqual(B[0][0], 0.01 * B[1][0], delta=1e-12)
        self.assertAlmostEqual(A[0][0], 1 + 0.01 * A[1][0], delta=1e-12)
        self.assertAlmostEqual(A[0][1], 0.01 * A[1][1], delta=1e-12)
        self.assertGreater(B[1][0], 1.0)

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

    def test_simulate_says_what_was_not_solved(self):
        ball = {"type": "sphere", "radius": 0.5}
        file = self.path / "coincident.json"
        file.write_text(json.dumps({"format": "tangere-scene", "version": 1, "bodies": [
            {"name": "floor", "fixed": True, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
            {"name": "one", "shape": ball, "position": [0, 0, 1]},
            {"name": "other", "shape": ball, "position": [0, 0, 1]},
            {"name": "sunk", "shape": {"type": "box", "size": [0.1, 0.1, 0.1]}, "position": [5, 0, -100]}]}))
        result = run("simulate", str(file), "--steps", "1", "--contact", "bilevel", "--json")
        self.assertEqual(result.returncode, 0)
        self.assertIn("tangere simulate: warning: contact was not solved in 1 of 1 steps", result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["approximate_steps"], 1)
        # and depths are those of the shapes
        depths = {tuple(one["bodies"]): one["depth"] for one in report["start_overlaps"]}
        self.assertAlmostEqual(depths["one", "other"], 1.0)
        self.assertAlmostEqual(depths["floor", "sunk"], 100.05)

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
            width = gradients["width"]
            self.assertEqual(width["steps"], 20 - gradients["approximate"])
            self.assertGreaterEqual(width["condition"]["value"], 1.0)
            if width["reach"]["q"] is not None:
                self.assertGreaterEqual(width["reach"]["q"]["value"], 0.0)
                self.assertLessEqual(width["reach"]["q"]["value"], width["median_reach_q"] or float("inf"))
                self.assertTrue(width["reach"]["q"]["column"].startswith("q of "))
            for block in gradients["blocks"]:
                self.assertLess(block["worst"], 1e-5)
        result = run("simulate", str(SCENES / "pendulum.urdf"), "--steps", "7", "--check-gradients")
        self.assertIn("gradients of 7 steps against differences: PASS\n", result.stdout)
        self.assertRegex(result.stdout, r"dv'/du +worst \S+")
        # nothing touches: nothing to leave
        self.assertIn("reach in q   any\n", result.stdout)
        self.assertIn("half of the steps reach inf in q; 0 of 7 steps on a tie\n", result.stdout)

    def test_simulate_says_how_wide_gradients_are(self):
        """Boxes laid exactly on each other start on ties; what is off them has a reach that differences confirm."""
        exact = self.simulate("mixed_stack.json", "--check-gradients", "--steps", "2")["gradients"]
        self.assertIsNotNone(exact["width"]["margin"])
        text = run("simulate", str(SCENES / "mixed_stack.json"), "--check-gradients", "--steps", "200", "--seed", "1").stdout
        self.assertRegex(text, r"reach in q   \d\.\de-?\d+ \(step \d+, q of \w+\[\d\]\)\n")
        self.assertRegex(text, r"condition    \d\.\de\+\d+ \(step \d+\); rows that repeat others: \d+ at most\n")
        smooth = self.simulate("mixed_stack.json", "--check-gradients", "--steps", "1", "--contact", "single_level", "--kappa", "1e-3")
        self.assertIsNone(smooth["gradients"]["width"])

    def test_simulate_says_which_gradients_are_not_exact(self):
        # balls with one centre: the normal between them has no derivative
        ball = {"shape": {"type": "sphere", "radius": 0.1}, "mass": 1, "position": [0, 0, 1]}
        file = self.path / "same.json"
        file.write_text(json.dumps({"format": "tangere-scene", "version": 1,
                                    "bodies": [dict(ball, name="one"), dict(ball, name="other")]}))
        result = run("simulate", str(file), "--steps", "1", "--check-gradients", "--json")
        gradients = json.loads(result.stdout)["gradients"]
        self.assertEqual((gradients["steps"], gradients["not_exact"], gradients["compared"]), (1, 1, 0))
        result = run("simulate", str(file), "--steps", "1", "--check-gradients")
        self.assertIn("nothing to compare", result.stdout)
        self.assertIn("1 steps left out whose Jacobians are flagged as not exact", result.stdout)

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
            self.assertEqual({contact["type"] for frame in frames for contact in frame.get("contacts", [])}, {"smooth"})
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


if __name__ == "__main__":
    unittest.main()
