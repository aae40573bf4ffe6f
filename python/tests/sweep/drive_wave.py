"""A driver of its own, for tests that kill it: drive_wave.py FOLDER ENGINE [ADDRESS]."""

import sys

from conftest import wave
from tangere import sweep

if __name__ == "__main__":
    folder, engine, *address = sys.argv[1:]
    wave(folder, engine=sweep.Ray(*address, workers=2) if engine == "ray" else sweep.Local(2))
