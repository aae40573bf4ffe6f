"""Random numbers by counter: number i of a seed is a function of (seed, i), whoever asks, whenever and wherever.

The generator is Philox 4x64: integers of `draw` are its blocks i = start, start + 1, ... under the key (seed, kDraws),
and `generator(seed, i)` is its stream under the key (seed, i), from a block on that names the purpose.
"""

from __future__ import annotations

import numpy as np

__all__ = ["draw", "generator"]

_DRAWS = 2**63  # no index reaches it
_WORDS = 4  # a block of Philox


def check_seed(seed: int) -> int:
    from .errors import bad

    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or not 0 <= int(seed) < 2**63:
        raise bad("seed", f"must be a whole number from 0 to 2^63 - 1, got {seed!r}")
    return int(seed)


def draw(seed: int, start: int, stop: int) -> np.ndarray:
    """Numbers start to stop - 1 of a seed: int64, from 0 to 2^63 - 1."""
    key = np.array([seed, _DRAWS], dtype=np.uint64)
    counter = np.array([start, 0, 0, 0], dtype=np.uint64)
    raw = np.random.Philox(key=key, counter=counter).random_raw(_WORDS * (stop - start))
    return (np.asarray(raw, dtype=np.uint64)[::_WORDS] >> np.uint64(1)).astype(np.int64)


def generator(seed: int, index: int, stream: int = 0) -> np.random.Generator:
    """A random generator of its own for each index and stream."""
    key = np.array([seed, index], dtype=np.uint64)
    counter = np.array([0, 0, 0, stream], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))
