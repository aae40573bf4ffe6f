"""Tables of rows that need not be stored: grids, seeds, generators, their products, and files of rows.

A table knows its columns, its length and any slice of its rows; a sweep of ten million rows keeps a few lines of JSON.

    grid(shape=["box", "sphere"], height=[0.5, 1.0]) * seeds(1000)      # 4000 rows: shape, height, seed
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import bad
from .seeds import check_seed, draw, generator

__all__ = ["Rows", "file_rows", "from_json", "generate", "grid", "rows", "seeds"]

Columns = dict[str, list[Any]]


class Rows:
    """A table. `a * b`: every row of a with every row of b, those of b fastest. `a + b`: rows of b after those of a."""

    columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        raise NotImplementedError

    def take(self, indices: np.ndarray, seed: int) -> Columns:
        """The rows with these indices, column by column. `seed` is the sweep's."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    def __mul__(self, other: Rows) -> Rows:
        return _Product(self, rows(other))

    def __add__(self, other: Rows) -> Rows:
        return _Sum(self, rows(other))

    def slice(self, start: int, stop: int, seed: int = 0) -> Columns:
        return self.take(np.arange(start, stop, dtype=np.int64), seed)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self), 1024):
            part = self.slice(start, min(start + 1024, len(self)))
            for k in range(len(next(iter(part.values()), []))):
                yield {name: values[k] for name, values in part.items()}


def _plain(value: Any, where: str) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(entry, where) for entry in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(entry, where) for key, entry in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise bad(where, f"must be finite, got {value}")
        return value
    raise bad(where, f"must be numbers, text or lists of them, got {type(value).__name__}")


class _Grid(Rows):
    def __init__(self, values: dict[str, list[Any]]) -> None:
        self._values = values
        self.columns = tuple(values)
        self._sizes = [len(v) for v in values.values()]

    def __len__(self) -> int:
        size = 1
        for n in self._sizes:
            size *= n
        return size

    def take(self, indices: np.ndarray, seed: int) -> Columns:
        out: Columns = {}
        left = indices
        for (name, values), size in zip(reversed(self._values.items()), reversed(self._sizes)):
            out[name] = [values[k] for k in (left % size).tolist()]
            left = left // size
        return {name: out[name] for name in self.columns}

    def to_json(self) -> dict[str, Any]:
        return {"kind": "grid", "columns": [[name, values] for name, values in self._values.items()]}


class _Seeds(Rows):
    def __init__(self, count: int, name: str, seed: int | None) -> None:
        self._count = count
        self._seed = seed
        self.columns = (name,)

    def __len__(self) -> int:
        return self._count

    def take(self, indices: np.ndarray, seed: int) -> Columns:
        if len(indices) == 0:
            return {self.columns[0]: []}
        mine = seed if self._seed is None else self._seed
        low, high = int(indices.min()), int(indices.max())
        if high - low < 4 * len(indices) + 64:
            return {self.columns[0]: draw(mine, low, high + 1)[indices - low].tolist()}
        return {self.columns[0]: [int(draw(mine, k, k + 1)[0]) for k in indices.tolist()]}

    def to_json(self) -> dict[str, Any]:
        return {"kind": "seeds", "count": self._count, "name": self.columns[0], "seed": self._seed}


class _Count(Rows):
    """The indices 0 to n - 1."""

    columns = ("index",)

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def take(self, indices: np.ndarray, seed: int) -> Columns:
        return {"index": indices.tolist()}

    def to_json(self) -> dict[str, Any]:
        return {"kind": "count", "count": self._count}


class _Product(Rows):
    def __init__(self, outer: Rows, inner: Rows) -> None:
        self._outer, self._inner = outer, inner
        _all_different(outer, inner)
        self.columns = outer.columns + inner.columns

    def __len__(self) -> int:
        return len(self._outer) * len(self._inner)

    def take(self, indices: np.ndarray, seed: int) -> Columns:
        size = max(1, len(self._inner))
        return {**self._outer.take(indices // size, seed), **self._inner.take(indices % size, seed)}

    def to_json(self) -> dict[str, Any]:
        return {"kind": "product", "of": [self._outer.to_json(), self._inner.to_json()]}


class _Sum(Rows):
    def __init__(self, first: Rows, second: Rows) -> None:
        if set(first.columns) != set(second.columns):
            raise bad("rows", f"that are added must have the same columns, got {first.columns} and {second.columns}")
        self._first, self._second = first, second
        self.columns = first.columns

    def __len__(self) -> int:
        return len(self._first) + len(self._second)

    def take(self, indices: np.ndarray, seed: int) -> Columns:
        early = indices < len(self._first)
        parts = self._first.take(indices[early], seed), self._second.take(indices[~early] - len(self._first), seed)
        out: Columns = {}
        for name in self.columns:
            queues = iter(parts[0][name]), iter(parts[1][name])
            out[name] = [next(queues[0] if e else queues[1]) for e in early.tolist()]
        return out

    def to_json(self) -> dict[str, Any]:
        return {"kind": "sum", "of": [self._first.to_json(), self._second.to_json()]}


class _Generated(Rows):
    """Rows that a function makes from its index and a random generator, in the chunk that needs them."""

    def __init__(self, function: Any, count: int, columns: tuple[str, ...]) -> None:
        self._function, self._count, self.columns = function, count, columns

    def __len__(self) -> int:
        return self._count

    def take(self, indices: np.ndarray, seed: int) -> Columns:
        made = [self._function.call(index=k, rng=generator(seed, k, stream=1)) for k in indices.tolist()]
        for k, row in zip(indices.tolist(), made):
            if not isinstance(row, Mapping) or set(row) != set(self.columns):
                raise bad("generator", f"must give the columns {list(self.columns)} for every row; row {k}: {row!r}")
        return {name: [row[name] for row in made] for name in self.columns}

    def to_json(self) -> dict[str, Any]:
        return {"kind": "generated", "function": self._function.identity(), "where": self._function.where(),
                "count": self._count, "columns": list(self.columns)}  # fmt: skip


class _Stored(Rows):
    """Rows of a Parquet file, known by the hash of what is in it."""

    def __init__(self, table: Any, digest: str, file: str) -> None:
        self.table, self.digest, self.file = table, digest, file
        self.columns = tuple(table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def take(self, indices: np.ndarray, seed: int) -> Columns:
        return dict(self.table.take(indices).to_pydict())

    def to_json(self) -> dict[str, Any]:
        return {"kind": "stored", "file": self.file, "sha256": self.digest, "count": len(self)}


def _all_different(a: Rows, b: Rows) -> None:
    twice = set(a.columns) & set(b.columns)
    if twice:
        raise bad("rows", f"both tables of a product have the column {sorted(twice)[0]!r}")


def _check_name(name: str) -> None:
    if name == "row":
        raise bad("columns", "the name 'row' is the index of a row, and taken")


def grid(**columns: Sequence[Any] | np.ndarray) -> Rows:
    """Every combination of the values, those of the last column fastest."""
    if not columns:
        raise bad("grid", "needs at least one column of values")
    values = {}
    for name, entries in columns.items():
        _check_name(name)
        if isinstance(entries, (str, bytes)) or not hasattr(entries, "__len__"):
            raise bad(name, f"must be a list of values, got {entries!r}")
        if len(entries) == 0:
            raise bad(name, "has no value, so the grid has no row")
        values[name] = [_plain(entry, name) for entry in entries]
    return _Grid(values)


def seeds(count: int, name: str = "seed", seed: int | None = None) -> Rows:
    """`count` rows with a random whole number each. `seed` None: they belong to the sweep's seed."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise bad("count", f"must be a whole number above 0, got {count!r}")
    _check_name(name)
    return _Seeds(int(count), name, None if seed is None else check_seed(seed))


def generate(function: Any, count: int) -> Rows:
    """`count` rows that `function(index, rng)` makes: a dictionary each, always of the same columns."""
    from .tasks import Reference

    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise bad("count", f"must be a whole number above 0, got {count!r}")
    reference = Reference.of(function)
    first = reference.call(index=0, rng=generator(0, 0, stream=1))
    if not isinstance(first, Mapping):
        raise bad("function", f"must give a dictionary per row, got {type(first).__name__}")
    for name in first:
        _check_name(name)
    return _Generated(reference, int(count), tuple(first))


def file_rows(table: Any) -> Rows:
    """Rows of an Arrow table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name in table.column_names:
        _check_name(name)
    # as it comes back from its file, which has other names inside of nested types
    stored = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(None), stored)
    table = pq.read_table(pa.BufferReader(stored.getvalue())).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.remove_metadata()) as stream:
        stream.write_table(table.replace_schema_metadata(None))
    digest = hashlib.sha256(sink.getvalue()).hexdigest()
    return _Stored(table, digest, f"rows-{digest[:12]}.parquet")


def rows(source: Any) -> Rows:
    """A table of what there is: a table of here, a list of dictionaries, a dictionary of columns, a pandas or Arrow
    table, a Parquet or CSV file, or a number n (the rows 0 to n - 1, in a column `index`)."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, (int, np.integer)) and not isinstance(source, bool):
        if source < 1:
            raise bad("rows", f"must be at least one, got {source}")
        return _Count(int(source))
    import pyarrow as pa

    try:
        if isinstance(source, (str, os.PathLike)):
            return file_rows(_read_file(Path(source)))
        if isinstance(source, pa.Table):
            return file_rows(source)
        if hasattr(source, "to_arrow"):  # polars
            return file_rows(source.to_arrow())
        if hasattr(source, "iloc"):  # pandas
            return file_rows(pa.Table.from_pandas(source, preserve_index=False))
        if isinstance(source, Mapping):
            return file_rows(pa.table({name: list(values) for name, values in source.items()}))
        if isinstance(source, Sequence) and source and all(isinstance(row, Mapping) for row in source):
            return file_rows(pa.Table.from_pylist([dict(row) for row in source]))
        if isinstance(source, Sequence) and source:
            return grid(index=source)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise bad("rows", f"cannot be made a table: {error}") from None
    raise bad("rows", f"must be a table with at least one row, got {type(source).__name__}")


def _read_file(path: Path) -> Any:
    import pyarrow.csv
    import pyarrow.parquet as pq

    if not path.is_file():
        raise bad("rows", f"there is no file {path}")
    if path.suffix == ".csv":
        return pyarrow.csv.read_csv(path)
    if path.suffix == ".parquet":
        return pq.read_table(path)
    raise bad("rows", f"must be a .parquet or .csv file, got {path}")


def from_json(data: dict[str, Any], folder: Path) -> Rows:
    """A table from its description; files are in `folder`."""
    import pyarrow.parquet as pq

    from .tasks import Reference

    kind = data["kind"]
    if kind == "grid":
        return _Grid({name: values for name, values in data["columns"]})
    if kind == "seeds":
        return _Seeds(data["count"], data["name"], data["seed"])
    if kind == "count":
        return _Count(data["count"])
    if kind == "product":
        return _Product(*(from_json(part, folder) for part in data["of"]))
    if kind == "sum":
        return _Sum(*(from_json(part, folder) for part in data["of"]))
    if kind == "generated":
        reference = Reference.load(data["function"], data["where"])
        return _Generated(reference, data["count"], tuple(data["columns"]))
    if kind == "stored":
        stored = file_rows(pq.read_table(folder / data["file"]))
        assert isinstance(stored, _Stored)
        if stored.digest != data["sha256"]:
            raise bad(str(folder / data["file"]), "is not the table that the sweep was made with (checksum)")
        return stored
    raise bad("rows", f"are of an unknown kind {kind!r}: the folder is of a newer version")


def stored_tables(table: Rows) -> list[_Stored]:
    """The tables in it that must be kept in a file."""
    if isinstance(table, _Stored):
        return [table]
    if isinstance(table, _Product):
        return stored_tables(table._outer) + stored_tables(table._inner)
    if isinstance(table, _Sum):
        return stored_tables(table._first) + stored_tables(table._second)
    return []
