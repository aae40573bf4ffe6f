#!/usr/bin/env python3
"""`tangere optimize` from the outside.

    optimize_test.py BINARY [unittest arguments]
"""

import json
import unittest

from command import SCENES, CommandTest, run


class OptimizeTest(CommandTest):
    def problem(self, **changes):
        """The cheetah's reach, changed, as a file."""
        problem = json.loads((SCENES / "problems" / "half_cheetah.json").read_text())
        problem["scene"] = str(SCENES / "half_cheetah.xml")
        problem.update(changes)
        file = self.path / "problem.json"
        file.write_text(json.dumps(problem))
        return str(file)

    def test_optimize_for_machines(self):
        result = run("optimize", "half_cheetah", "--json", "--seeds", "2", "--scenes", str(SCENES))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"\Ahalf_cheetah: 2 of 2 seeds reach the goal, .*\n\Z")
        first, second = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual((first["name"], first["status"], first["seed"], second["seed"]), ("half_cheetah", "solved", 1, 2))
        self.assertLessEqual(first["goal_error"], 1e-3)
        self.assertLessEqual(first["replay_strays"], 1e-6)

    def test_optimize_records_the_plan(self):
        record = self.path / "plan.json"
        result = run("optimize", self.problem(), "--record", str(record), "--progress")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("half_cheetah: solved", result.stdout)
        self.assertIn("violation", result.stderr)
        self.assertGreater(record.stat().st_size, 1000)

    def test_optimize_says_what_is_not_reached(self):
        goal = {"type": "reach_frame", "body": "head", "position": [50, 1, 0]}
        result = run("optimize", self.problem(constraints=[{"type": "control_bounds"}, goal], restarts={"count": 1}),
                     "--json")
        self.assertEqual(result.returncode, 1)
        report = json.loads(result.stdout)
        self.assertEqual((report["status"], report["worst_knot"]), ("infeasible", 80))
        self.assertIn("reach frame", report["worst_name"])

    def test_optimize_names_bad_input(self):
        result = run("optimize", "no_such_problem", "--scenes", str(SCENES))
        self.assertEqual(result.returncode, 2)
        self.assertIn("half_cheetah", result.stderr)
        result = run("optimize", self.problem(contact="soft"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("contact", result.stderr)


if __name__ == "__main__":
    unittest.main()
