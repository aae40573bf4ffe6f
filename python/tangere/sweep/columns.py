"""Results of rows as columns of an Arrow table; arrays of one to four axes become nested lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .errors import SweepError

__all__ = ["batch_columns", "result_columns"]


def _nested(arrays: list[np.ndarray]) -> pa.Array:
    """Arrays of the same number of axes, as lists of lists of numbers; from their memory, not number by number."""
    flat = pa.array(np.concatenate([a.reshape(-1) for a in arrays]) if arrays else np.empty(0))
    # from the innermost axis outwards: how long each list is
    for axis in range(arrays[0].ndim - 1, -1, -1):
        lengths = np.concatenate([np.full(int(np.prod(a.shape[:axis])), a.shape[axis], dtype=np.int64) for a in arrays])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        if offsets[-1] >= 2**31:
            raise SweepError("a chunk holds more than 2^31 numbers in one column: make the chunks smaller")
        flat = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)
    return flat


def _column(name: str, values: Sequence[Any]) -> pa.Array:
    # arrays of one type and number of axes; numbers of NumPy as those of Python
    if values and all(isinstance(v, np.ndarray) and v.ndim > 0 for v in values):
        kinds = {(v.ndim, v.dtype) for v in values}
        if len(kinds) == 1 and values[0].dtype.kind in "fiub":
            return _nested(list(values))
    plain = [v.item() if isinstance(v, np.generic) or (isinstance(v, np.ndarray) and v.ndim == 0) else v for v in values]
    plain = [v.tolist() if isinstance(v, np.ndarray) else v for v in plain]
    try:
        return pa.array(plain)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
        raise SweepError(f"the result column {name!r} is not of one type that Parquet knows: {error}") from None


def result_columns(results: Sequence[Any]) -> dict[str, pa.Array]:
    """Columns of what a task gave for its rows: a dictionary each, or one value (the column `value`), or nothing."""
    rows = []
    for result in results:
        if result is None:
            rows.append({})
        elif isinstance(result, Mapping):
            rows.append(dict(result))
        else:
            rows.append({"value": result})
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    for name in names:
        if not isinstance(name, str) or not name:
            raise SweepError(f"names of results must be text, got {name!r}")
    return {name: _column(name, [row.get(name) for row in rows]) for name in names}


def batch_columns(result: Any, count: int) -> dict[str, pa.Array]:
    """Columns of what a task gave for a batch."""
    if isinstance(result, pa.Table):
        result = {name: result.column(name).combine_chunks() for name in result.column_names}
    if result is None:
        return {}
    if not isinstance(result, Mapping):
        raise SweepError(f"a batch must give a dictionary of columns, got {type(result).__name__}")
    out = {}
    for name, values in result.items():
        if len(values) != count:
            raise SweepError(f"the result column {name!r} has {len(values)} entries, the batch {count} rows")
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            out[name] = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        elif isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "fiub":
            out[name] = pa.array(values)
        else:
            out[name] = _column(name, list(values))
    return out
