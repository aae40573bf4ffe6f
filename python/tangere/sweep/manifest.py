"""The statement of a sweep: task, code, files, table, seed, options, chunk size. Chunk i is a pure function of it and of i.

`identity` is compared when a folder is used again: it holds hashes and no path, so that a folder may be moved. `where`
says how the task is found, and `accepted` which other codes somebody has let go on in the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import bad
from .rows import Rows, _plain, from_json, stored_tables
from .seeds import check_seed
from .tasks import Task, code_of_machine

__all__ = ["Manifest", "differences"]

FORMAT = "tangere-sweep"
VERSION = 1
# Parts of an identity that are code: a person may accept that they changed.
_CODE = ("task.code", "code.", "files.")


@dataclass
class Manifest:
    identity: dict[str, Any]
    where: dict[str, Any]
    task: Task
    rows: Rows
    accepted: list[dict[str, Any]] = field(default_factory=list)

    @property
    def chunk(self) -> int:
        return int(self.identity["chunk"])

    @property
    def seed(self) -> int:
        return int(self.identity["seed"])

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.identity["options"])

    @property
    def num_rows(self) -> int:
        return int(self.identity["rows"])

    @property
    def num_chunks(self) -> int:
        return -(-self.num_rows // self.chunk)

    @property
    def key(self) -> str:
        """The hash of the identity: shards and receipts of another sweep are told by it."""
        return _key(self.identity)

    def range_of(self, chunk: int) -> tuple[int, int]:
        start = chunk * self.chunk
        return start, min(start + self.chunk, self.num_rows)

    def code_now(self) -> dict[str, Any]:
        """The part of the identity that this process would give it."""
        files = {name: _file_hash(Path(path)) for name, path in self.where["files"].items()}
        return {"task": self.task.identity(), "code": code_of_machine(), "files": files}

    def check_code(self) -> None:
        """Throws InputError if this process has another code than the sweep."""
        now = self.code_now()
        codes = [{name: self.identity[name] for name in now}, *self.accepted]
        if now not in codes:
            there = differences(codes[-1], now)
            raise bad("code", f"of this machine or file is not the sweep's: {there}")

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "version": VERSION, "identity": self.identity, "where": self.where,
                "accepted": self.accepted}  # fmt: skip


def _key(identity: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _file_hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise bad(str(path), f"belongs to the sweep, and cannot be read: {error}") from None


def make(task: Any, table: Rows, chunk: int, seed: int, options: dict[str, Any],
         files: Iterable[str | os.PathLike[str]] = ()) -> Manifest:  # fmt: skip
    """The manifest of a sweep. Throws InputError if rows and task do not fit."""
    task = Task.of(task)
    if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
        raise bad("chunk", f"must be a whole number of rows above 0, got {chunk!r}")
    if len(table) == 0:
        raise bad("rows", "has no row")
    options = _plain(options, "options")
    if both := set(options) & set(table.columns):
        raise bad("options", f"and the table both have {sorted(both)[0]!r}")
    task.check_arguments(table.columns, options)
    paths = {**task.file_paths(), **{os.path.basename(f): os.path.abspath(f) for f in files}}
    identity = {"task": task.identity(), "code": code_of_machine(),
                "files": {name: _file_hash(Path(path)) for name, path in paths.items()},
                "table": _identity_of_table(table.to_json()), "rows": len(table), "chunk": chunk,
                "seed": check_seed(seed), "options": options}  # fmt: skip
    where = {"task": task.reference.where(), "table": table.to_json(), "path": [p for p in sys.path if p],
             "files": paths}  # fmt: skip
    return Manifest(identity, where, task, table)


def _identity_of_table(data: Any) -> Any:
    """A table's description without paths."""
    if isinstance(data, dict):
        return {k: _identity_of_table(v) for k, v in data.items() if k not in ("where", "file")}
    if isinstance(data, list):
        return [_identity_of_table(v) for v in data]
    return data


def read(folder: Path) -> Manifest:
    """The manifest of a folder, with its task imported."""
    data = read_json(folder)
    where = data["where"]
    sys.path.extend(p for p in where.get("path", ()) if p not in sys.path and os.path.isdir(p))
    task = Task.load(data["identity"]["task"], where["task"])
    return Manifest(data["identity"], where, task, from_json(where["table"], folder), data["accepted"])


def read_json(folder: Path) -> dict[str, Any]:
    """The manifest of a folder as it is written, without its task."""
    file = folder / "manifest.json"
    try:
        data = json.loads(file.read_text())
    except FileNotFoundError:
        raise bad(str(folder), "is not the folder of a sweep: it has no manifest.json") from None
    except (ValueError, OSError) as error:
        raise bad(str(file), f"cannot be read: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise bad(str(file), f"is not the manifest of a sweep (format {FORMAT!r})")
    if data.get("version") != VERSION:
        raise bad(str(file), f"is of version {data.get('version')}, this tangere reads {VERSION}")
    if missing := {"identity", "where", "accepted"} - set(data):
        raise bad(str(file), f"lacks {sorted(missing)[0]!r}")
    return data


def write(folder: Path, manifest: Manifest) -> None:
    """Writes a manifest whole or not at all, and the tables of rows that it names."""
    import pyarrow.parquet as pq

    from .shards import write_whole

    for stored in stored_tables(manifest.rows):
        if not (folder / stored.file).is_file():
            write_whole(folder / stored.file, lambda path, table=stored.table: pq.write_table(table, path))
    text = json.dumps(manifest.to_json(), indent=1) + "\n"
    write_whole(folder / "manifest.json", lambda path: path.write_text(text))


def differences(old: Any, new: Any, name: str = "") -> str:
    """The entries in which two identities differ, in words."""
    return "; ".join(f"{where} was {_short(a)}, is now {_short(b)}" for where, a, b in _differing(old, new, name))


def _differing(old: Any, new: Any, name: str) -> list[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        out = []
        for key in [*old, *(k for k in new if k not in old)]:
            inner = f"{name}.{key}" if name else str(key)
            out += _differing(old.get(key), new.get(key), inner)
        return out
    return [] if old == new else [(name, old, new)]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else text[:97] + "..."


def reconcile(folder: Path, new: Manifest, accept_changes: bool) -> Manifest:
    """The manifest of a folder that is used again for `new`. Throws InputError, saying what differs."""
    data = read_json(folder)
    old = data["identity"]
    changed = _differing(old, new.identity, "")
    code_parts = ("task", "code", "files")
    codes = [{n: old[n] for n in code_parts}, *data["accepted"]]
    only_code = all(where.startswith(_CODE) for where, _, _ in changed)
    known = only_code and {n: new.identity[n] for n in code_parts} in codes
    if changed and not known:
        if not (only_code and accept_changes):
            advice = "take another folder"
            if only_code:
                advice += ", or accept_changes=True (--accept-changes) to go on with the changed code"
            raise bad(str(folder), f"holds another sweep: {differences(old, new.identity)}: {advice}")
        data["accepted"].append({n: new.identity[n] for n in code_parts})
    merged = Manifest(old, new.where, new.task, new.rows, data["accepted"])
    if changed and not known:
        write(folder, merged)
    return merged
