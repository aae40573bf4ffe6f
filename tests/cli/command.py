"""The command under test, for the programs of this folder: it is their first argument."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = os.path.abspath(sys.argv.pop(1))
SCENES = Path(__file__).resolve().parent.parent.parent / "scenes"


def run(*arguments, text=None, binary=False):
    return subprocess.run([BINARY, *arguments], input=text, capture_output=True, text=not binary, timeout=300)


class CommandTest(unittest.TestCase):
    """With a folder of its own, `self.path`."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
