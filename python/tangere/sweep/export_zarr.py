"""A sweep as a Zarr group: an array per column, rows along the first axis.

A nested column whose rows have one shape is one array (rows, ...); otherwise it is a group of `values`, all rows one after
the other, and `lengths`. Rows without a value are NaN, and empty text.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .errors import SweepError, bad
from .nested import depth, is_numbers, row_arrays

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["export"]


def _scalars(column: pa.ChunkedArray) -> np.ndarray | None:
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.array(["" if v is None else v for v in column.to_pylist()], dtype=np.str_)
    if is_numbers(kind):
        if column.null_count:
            return np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
        return np.asarray(column.to_numpy())
    return None


def _write(group: Any, name: str, values: np.ndarray) -> None:
    rows = max(1, min(len(values), (4 << 20) // max(1, values[:1].nbytes)))
    array = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=(rows, *map(lambda n: max(1, n), values.shape[1:])))  # fmt: skip
    array[...] = values


def export(run: Run, folder: Path) -> Path:
    """Writes the group."""
    try:
        import zarr
    except ImportError:
        raise SweepError("the export needs the package zarr: pip install 'zarr >= 3'") from None
    if int(zarr.__version__.split(".")[0]) < 3:
        raise SweepError(f"the export needs zarr 3 or newer, this is {zarr.__version__}")
    if folder.exists():
        raise bad(str(folder), "is there already: nothing is overwritten")
    table = run.table()
    building = folder.with_name(f"{folder.name}.tmp.{os.getpid()}")
    try:
        group = zarr.open_group(str(building), mode="w-")
        left_out = [field.name for field in table.schema if not _write_column(group, field.name, table.column(field.name))]
        group.attrs["tangere.sweep"] = json.loads(table.schema.metadata[b"tangere.sweep"])
        group.attrs["left_out"] = left_out
        building.rename(folder)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return folder


def _write_column(group: Any, name: str, column: pa.ChunkedArray) -> bool:
    """False if Zarr has no type for it."""
    if depth(column.type) == 0:
        values = _scalars(column)
        if values is not None:
            _write(group, name, values)
        return values is not None
    if depth(column.type) > 2 or not is_numbers(column.type):
        return False
    rows = row_arrays(column)
    if len({row.shape for row in rows}) == 1:
        _write(group, name, np.stack(rows))
        return True
    ragged = group.create_group(name)
    widths = {row.shape[1:] for row in rows if len(row)}
    if len(widths) > 1:
        return False
    _write(ragged, "values", np.concatenate([row for row in rows if len(row)] or rows[:1]))
    _write(ragged, "lengths", np.array([len(row) for row in rows], dtype=np.int64))
    return True
