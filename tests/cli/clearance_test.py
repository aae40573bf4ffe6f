#!/usr/bin/env python3
"""`tangere clearance` from the outside.

    clearance_test.py BINARY [unittest arguments]
"""

import json
import subprocess
import unittest

from command import BINARY, SCENES, CommandTest, run

ARM = str(SCENES / "arm.urdf")


class ClearanceTest(CommandTest):
    def ask(self, file, *lines):
        """Answers of lines given on standard input, and the exit code."""
        result = subprocess.run([BINARY, "clearance", str(file), "-"], input="\n".join(lines), capture_output=True, text=True, timeout=60)
        self.assertEqual(result.stderr, "")
        return [json.loads(line) for line in result.stdout.splitlines()], result.returncode

    def test_configuration_of_the_file(self):
        result = run("clearance", str(SCENES / "two_arms.json"), "--margin", "0.3")
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)
        values = [pair["distance"] for pair in answer["pairs"]]
        self.assertGreater(len(values), 2)
        self.assertEqual(values, sorted(values))
        self.assertEqual(answer["smallest"], values[0])
        self.assertLessEqual(values[-1], 0.3)
        self.assertEqual(len(answer["pairs"][0]["gradient"]), 18)
        self.assertTrue(any("left/" in pair["a"] + pair["b"] for pair in answer["pairs"]))

    def test_scaling(self):
        result = run("clearance", ARM, "--metric", "scaling", "--margin", "2", "--q", "0,1,1.5,0,1,0")
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)
        self.assertTrue(answer["pairs"])
        self.assertTrue(all(0 < pair["alpha"] <= 3 for pair in answer["pairs"]))

    def test_good_and_bad_lines(self):
        zero = [0] * 6
        bent = [0, 1.9, 2.5, 0, 1.5, 0]
        good = {"q": bent, "margin": 0.5, "id": "bent", "smoothing": 0.05}
        answers, code = self.ask(
            ARM, json.dumps(good), "", "{not json", json.dumps({"q": [0, 1]}), json.dumps({"q": zero, "include": [["hammer", "*"]]}),
            json.dumps({"q0": zero, "q1": bent, "margin": 0.3}), json.dumps({"q": zero, "margin": -1}), json.dumps({"q0": zero}),
            json.dumps({"q": zero, "include": [["base", "*"]], "margin": 5, "gradients": False}))
        self.assertEqual(code, 2)
        bent_answer, malformed, short, unknown, swept, negative, half, some = answers
        self.assertEqual(bent_answer["id"], "bent")
        self.assertEqual(len(bent_answer["smooth_minimum_gradient"]), 6)
        self.assertEqual(malformed["error"]["line"], 3)
        self.assertIn("malformed JSON", malformed["error"]["message"])
        self.assertEqual(short["error"]["field"], "q")
        self.assertEqual(unknown["error"]["field"], "include[0].a")
        self.assertIn("matches no shape", unknown["error"]["message"])
        self.assertTrue(swept["certified"])
        self.assertLessEqual(swept["lower_bound"], swept.get("distance", 0.3))
        self.assertEqual(negative["error"]["field"], "margin")
        self.assertEqual(half["error"]["line"], 8)
        self.assertTrue(all("base" in (pair["a"], pair["b"]) and "gradient" not in pair for pair in some["pairs"]))
        self.assertTrue(some["pairs"])

    def test_swept_agrees_with_configurations(self):
        q0 = [0, 0.5, 1.0, 0, 0.5, 0]
        q1 = [1.5, 1.5, 2.0, 1, 1.0, 0]
        steps = [[a + k / 50 * (b - a) for a, b in zip(q0, q1)] for k in range(51)]
        lines = [json.dumps({"q": q, "margin": 1, "gradients": False}) for q in steps]
        answers, code = self.ask(ARM, json.dumps({"q0": q0, "q1": q1, "margin": 1}), *lines)
        self.assertEqual(code, 0)
        least = min(answer["smallest"] for answer in answers[1:])
        self.assertLessEqual(answers[0]["lower_bound"], least)
        self.assertLess(least - answers[0]["lower_bound"], 0.01)
        self.assertEqual(len(answers[0]["gradient_q0"]), 6)

    def test_wrong_arguments(self):
        for arguments in (["clearance"], ["clearance", ARM, "-", "--q", "1"], ["clearance", ARM, "--metric", "x"]):
            self.assertEqual(run(*arguments).returncode, 2, arguments)
        result = run("clearance", ARM, "--q", "1,2")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--q: needs 6 numbers, got 2", result.stderr)
        self.assertEqual(run("clearance", "no_such_file.urdf").returncode, 2)


if __name__ == "__main__":
    unittest.main()
