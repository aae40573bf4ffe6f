"""How far a sweep is: rate and remaining time, from what was done since it started."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

__all__ = ["Progress", "Reporter"]


@dataclass
class Progress:
    """Chunks and rows so far. What was there before the start counts as done, and not for the rate."""

    chunks: int
    rows: int
    chunks_before: int
    rows_before: int
    start: float
    chunks_done: int = 0
    rows_done: int = 0
    chunks_failed: int = 0
    seconds: float = 0.0

    def add(self, rows: int, failed: bool, now: float) -> None:
        self.chunks_failed += failed
        self.chunks_done += not failed
        self.rows_done += 0 if failed else rows
        self.seconds = now - self.start

    @property
    def part(self) -> float:
        """The part of the chunks that has ended, from 0 to 1."""
        return (self.chunks_before + self.chunks_done + self.chunks_failed) / max(1, self.chunks)

    @property
    def rows_per_second(self) -> float:
        return self.rows_done / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining_seconds(self) -> float | None:
        """None while nothing is known."""
        ended = self.chunks_done + self.chunks_failed
        left = self.chunks - self.chunks_before - ended
        return self.seconds * left / ended if ended and self.seconds > 0 else None

    def __str__(self) -> str:
        done = self.chunks_before + self.chunks_done
        text = f"{done} of {self.chunks} chunks ({100 * self.part:.0f} %), {self.rows_per_second:.3g} rows/s"
        if self.remaining_seconds is not None:
            text += f", {_duration(self.remaining_seconds)} left"
        return text + (f", {self.chunks_failed} failed" if self.chunks_failed else "")


def _duration(seconds: float) -> str:
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Reporter:
    """Shows it on standard error: in one line of a terminal, a line every ten seconds elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = time.monotonic() if not self._terminal else 0.0

    def __call__(self, progress: Any) -> None:
        now = time.monotonic()
        if now - self._last < (0.2 if self._terminal else 10.0) and progress.part < 1.0:
            return
        self._last = now
        sys.stderr.write(f"\r\033[K{progress}" if self._terminal else f"{progress}\n")
        if self._terminal and progress.part >= 1.0:
            sys.stderr.write("\n")
        sys.stderr.flush()
