"""Columns of a table as NumPy arrays, for exports."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["depth", "flat", "is_numbers", "row_arrays"]


def depth(type_: pa.DataType) -> int:
    """How many lists are around the entries."""
    return 1 + depth(type_.value_type) if pa.types.is_list(type_) else 0


def flat(type_: pa.DataType) -> pa.DataType:
    """The type of the entries."""
    return flat(type_.value_type) if pa.types.is_list(type_) else type_


def is_numbers(type_: pa.DataType) -> bool:
    inner = flat(type_)
    return bool(pa.types.is_floating(inner) or pa.types.is_integer(inner) or pa.types.is_boolean(inner))


def _numbers(values: pa.Array) -> np.ndarray:
    if pa.types.is_boolean(values.type):
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=bool)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def row_arrays(column: pa.ChunkedArray) -> list[np.ndarray]:
    """An array per row of a column of lists of one or two levels. Rows without a value are empty."""
    values = column.combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks == 1 else pa.concat_arrays(values.chunks)
    outer = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    inner = values.flatten()
    bounds = np.concatenate([[0], np.cumsum(outer)])
    if depth(inner.type) == 0:
        numbers = _numbers(inner)
        return [numbers[a:b] for a, b in zip(bounds[:-1], bounds[1:])]
    widths = inner.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    numbers = _numbers(inner.flatten())
    ends = np.concatenate([[0], np.cumsum(widths)])
    out = []
    for a, b in zip(bounds[:-1], bounds[1:]):
        width = int(widths[a]) if b > a else 0
        if b > a and not (widths[a:b] == width).all():
            raise ValueError("rows of different lengths in one array")
        out.append(numbers[ends[a] : ends[b]].reshape(b - a, width))
    return out
