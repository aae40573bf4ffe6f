"""One chunk: rows of the manifest's table through its task, as an Arrow table and as the bytes of its shard."""

from __future__ import annotations

import json
import traceback
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .columns import _column, batch_columns, result_columns
from .errors import SweepError
from .manifest import Manifest
from .seeds import generator

__all__ = ["TaskFailed", "compute", "metadata", "to_bytes"]


class TaskFailed(Exception):
    """The task threw. The text names the row, and where in the task."""


def _explain(error: BaseException, where: str) -> TaskFailed:
    # the frames from the task on: ours before it say nothing
    frames = traceback.extract_tb(error.__traceback__)
    inner = [f for f in frames if "/tangere/sweep/" not in f.filename.replace("\\", "/")] or frames
    place = f" ({inner[-1].filename}:{inner[-1].lineno} in {inner[-1].name})"
    return TaskFailed(f"{where}: {type(error).__name__}: {error}{place}")


def compute(manifest: Manifest, chunk: int) -> pa.Table:
    """The table of a chunk: `row`, the columns of its rows, the results. Throws TaskFailed."""
    start, stop = manifest.range_of(chunk)
    options, task = manifest.options, manifest.task
    try:
        inputs = manifest.rows.slice(start, stop, manifest.seed)
    except Exception as error:
        raise _explain(error, f"rows {start} to {stop - 1}") from None
    if task.batch:
        given: dict[str, Any] = {name: np.asarray(values) for name, values in inputs.items()}
        extra = {"rng": generator(manifest.seed, start)} if task.takes("rng") else {}
        try:
            outputs = batch_columns(task.function(given, **options, **extra), stop - start)
        except Exception as error:
            raise _explain(error, f"rows {start} to {stop - 1}") from None
    else:
        outputs = result_columns(list(_row_results(manifest, inputs, start, stop)))
    columns = {"row": pa.array(np.arange(start, stop, dtype=np.int64))}
    for name, values in inputs.items():
        columns[name] = _column(name, values)
    for name, values in outputs.items():
        if name in columns:
            raise TaskFailed(f"the result {name!r} has the name of a column of the table")
        columns[name] = values
    return pa.table(columns)


def _row_results(manifest: Manifest, inputs: dict[str, list[Any]], start: int, stop: int) -> Any:
    options, task = manifest.options, manifest.task
    takes_rng, takes_row, passed = task.takes("rng"), task.takes("row"), task.passed(inputs)
    for k in range(stop - start):
        arguments = {name: inputs[name][k] for name in passed}
        if takes_rng:
            arguments["rng"] = generator(manifest.seed, start + k)
        if takes_row:
            arguments["row"] = start + k
        try:
            yield task.function(**arguments, **options)
        except Exception as error:
            shown = ", ".join(f"{n}={v!r}" for n, v in arguments.items() if n not in ("rng", "row"))
            raise _explain(error, f"row {start + k} ({shown[:300]})") from None


def metadata(
    key: str, identity: dict[str, Any], accepted: list[Any], chunk: int | None = None
) -> dict[bytes, bytes]:
    """The metadata of a file of the sweep: version, task, options, seed, the whole identity."""
    text: dict[str, Any] = {"format": "tangere-sweep-rows", "sweep": key, **identity}
    if accepted:
        text["accepted"] = accepted
    if chunk is not None:
        text["chunk_index"] = chunk
    return {b"tangere.sweep": json.dumps(text).encode()}


def to_bytes(table: pa.Table, extra: dict[bytes, bytes]) -> Any:
    """A table as a Parquet file: the same bytes for the same table and pyarrow."""
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(table.replace_schema_metadata(extra), sink, compression="zstd", write_statistics=False)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise SweepError(f"results cannot be written as Parquet: {error}") from None
    return sink.getvalue()
