#!/usr/bin/env python3
"""The layer check must fail when it must: small trees with one fault each."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"


def header(*includes):
    return "#pragma once\n" + "".join(f'#include "{name}"\n' for name in includes)


class CheckLayers(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, str(SCRIPT), root], capture_output=True, text=True, check=False)
            return result.returncode, result.stdout

    def assert_fails(self, files, message):
        code, output = self.run_on(files)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def test_right_arrows_pass(self):
        code, output = self.run_on({
            "tangere/math/a.hpp": header("tangere/math/b.hpp", "tangere/version.hpp"),
            "tangere/solvers/a.hpp": header("tangere/math/a.hpp"),
            "tangere/geometry/a.hpp": header("tangere/math/a.hpp"),
            "tangere/proximity/a.cpp": header("tangere/solvers/a.hpp", "tangere/geometry/a.hpp", "tangere/math/a.hpp"),
            "tangere/contact/a.cpp": header("tangere/proximity/a.hpp", "tangere/multibody/a.hpp"),
            "tangere/io/a.cpp": header("tangere/geometry/a.hpp", "tangere/sim/a.hpp", "nlohmann/json.hpp"),
            "apps/cli/main.cpp": header("tangere/io/a.hpp", "tangere/proximity/a.hpp", "apps/cli/a.hpp"),
            "python/bind_math.cpp": header("tangere/math/a.hpp"),
        })
        self.assertEqual(code, 0, output)

    def test_pages_name_sources_that_exist(self):
        tree = {"tangere/contact/hard/lcp.cpp": header(), "tests/sim/step_test.cpp": ""}
        code, output = self.run_on(tree | {"docs/a.md": "`contact/hard/lcp.cpp`, `hard/lcp.cpp`, `sim/step_test.cpp`\n"})
        self.assertEqual(code, 0, output)
        self.assert_fails(tree | {"docs/algorithms/a.md": "\n`contact/lcp.cpp`\n"}, "docs/algorithms/a.md:2: there is no contact/lcp.cpp")

    def test_wrong_arrows_fail(self):
        for source, target in [
            ("tangere/math/a.hpp", "tangere/geometry/a.hpp"),
            ("tangere/solvers/a.hpp", "tangere/geometry/a.hpp"),
            ("tangere/geometry/a.hpp", "tangere/solvers/a.hpp"),
            ("tangere/geometry/a.hpp", "tangere/proximity/a.hpp"),
            ("tangere/multibody/a.hpp", "tangere/proximity/a.hpp"),
            ("tangere/multibody/a.hpp", "tangere/solvers/a.hpp"),
            ("tangere/proximity/a.hpp", "tangere/multibody/a.hpp"),
            ("tangere/sim/a.hpp", "tangere/io/a.hpp"),
            ("tangere/io/a.hpp", "apps/cli/a.hpp"),
            ("apps/cli/a.hpp", "python/a.hpp"),
        ]:
            with self.subTest(source=source, target=target):
                self.assert_fails({source: header(target)}, f"{source}:2:")

    def test_angle_brackets_are_no_way_around(self):
        self.assert_fails({"tangere/math/a.cpp": "#  include <tangere/io/a.hpp>\n"}, "tangere/math/a.cpp:1:")

    def test_unknown_module_fails(self):
        self.assert_fails({"tangere/misc/a.cpp": ""}, "unknown module 'misc'")

    def test_header_without_pragma_once_fails(self):
        self.assert_fails({"tangere/math/a.hpp": "// #pragma once\n"}, "without #pragma once")

    def test_internal_headers_are_for_their_module(self):
        code, output = self.run_on({"tangere/sim/internal/a.hpp": header("tangere/sim/impact/internal/b.hpp")})
        self.assertEqual(code, 0, output)
        for source in ["tangere/io/a.cpp", "apps/cli/a.cpp", "tangere/contact/internal/a.cpp"]:
            with self.subTest(source=source):
                self.assert_fails({source: "\n" + '#include "tangere/sim/impact/internal/b.hpp"\n'}, f"{source}:2:")

    def test_private_headers_live_below_internal(self):
        remark = "/// Private to sim.\n"
        self.assert_fails({"tangere/sim/a.hpp": header() + remark}, "belongs below internal/")
        code, output = self.run_on({"tangere/sim/internal/a.hpp": header() + remark})
        self.assertEqual(code, 0, output)

    def test_installed_headers_include_installed_ones(self):
        tree = {"tangere/public_headers.txt": "math/a.hpp\n",
                "tangere/math/a.hpp": header("tangere/math/b.hpp", "tangere/version.hpp"),
                "tangere/math/b.hpp": header()}
        self.assert_fails(tree, "tangere/math/a.hpp:2: an installed header must not include tangere/math/b.hpp")
        code, output = self.run_on(tree | {"tangere/public_headers.txt": "math/a.hpp\nmath/b.hpp\n"})
        self.assertEqual(code, 0, output)
        self.assert_fails(tree | {"tangere/public_headers.txt": "math/c.hpp\n"}, "there is no tangere/math/c.hpp")

    def test_empty_tree_fails(self):
        self.assert_fails({}, "no sources")


if __name__ == "__main__":
    unittest.main()
