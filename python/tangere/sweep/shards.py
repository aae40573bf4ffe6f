"""The folder of a sweep: shards, receipts, failures, the lock. Done is what has a receipt that its shard matches.

    manifest.json          what the sweep is
    shards/<chunk>.parquet the rows of a chunk: index, inputs, results
    receipts/<chunk>.json  one line: SHA-256 and size of the shard, rows, seconds, where it was made
    failed/<chunk>.json    why a chunk was given up
    set-aside/             shards that did not match their receipt, for a person to look at
    lock                   held by whoever drives the sweep

A shard is written under another name, synchronised and linked to its own, which fails if that exists: nothing is
overwritten. A receipt follows. Both are facts about (manifest, chunk), so it does no harm if two processes do the same.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import SweepError, bad, is_storage_error, storage_error

__all__ = ["Failure", "Receipt", "Store"]


@dataclass(frozen=True)
class Receipt:
    chunk: int
    sha256: str
    bytes: int
    rows: int
    seconds: float
    host: str
    pid: int
    key: str


@dataclass(frozen=True)
class Failure:
    """A chunk that was given up."""

    chunk: int
    first_row: int
    last_row: int
    tries: int
    error: str


_serial = iter(range(1 << 62))


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.name}.tmp.{socket.gethostname()}.{os.getpid()}.{next(_serial)}")


def _synchronise(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, fill: Callable[[Path], Any]) -> None:
    """Writes a file so that nobody ever sees a part of it; one that is there is replaced."""
    temporary = _temporary(path)
    try:
        fill(temporary)
        _synchronise(temporary)
        os.replace(temporary, path)
        _synchronise(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


class Store:
    """The files of a sweep's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def shard(self, chunk: int) -> Path:
        return self.folder / "shards" / f"{chunk:08d}.parquet"

    def receipt(self, chunk: int) -> Path:
        return self.folder / "receipts" / f"{chunk:08d}.json"

    def failure(self, chunk: int) -> Path:
        return self.folder / "failed" / f"{chunk:08d}.json"

    # -- reading ------------------------------------------------------------------------------------------------------

    def read_receipt(self, chunk: int, key: str) -> Receipt | None:
        """The receipt of a chunk, None if there is none that can be read."""
        try:
            data = json.loads(self.receipt(chunk).read_bytes())
            found = Receipt(**data)
        except (OSError, ValueError, TypeError):
            return None
        return found if found.chunk == chunk and found.key == key else None

    def matches(self, receipt: Receipt, contents: bool = True) -> bool:
        """Whether the shard is the one of its receipt, by size, and by its contents if asked."""
        shard = self.shard(receipt.chunk)
        try:
            if shard.stat().st_size != receipt.bytes:
                return False
            return not contents or hashlib.sha256(shard.read_bytes()).hexdigest() == receipt.sha256
        except OSError:
            return False

    def chunks_with(self, folder: str, suffix: str) -> list[int]:
        """The chunks that have a file there, sorted."""
        try:
            names = os.listdir(self.folder / folder)
        except FileNotFoundError:
            return []
        stems = (name[: -len(suffix)] for name in names if name.endswith(suffix))
        return sorted(int(stem) for stem in stems if stem.isdigit())

    def done(self, key: str, contents: bool = False) -> tuple[dict[int, Receipt], list[int]]:
        """Receipts whose shards match, and the chunks with one whose shard does not (torn)."""
        good, torn = {}, []
        for chunk in self.chunks_with("receipts", ".json"):
            receipt = self.read_receipt(chunk, key)
            if receipt is not None and self.matches(receipt, contents):
                good[chunk] = receipt
            else:
                torn.append(chunk)
        return good, torn

    def failures(self) -> list[Failure]:
        out = []
        for chunk in self.chunks_with("failed", ".json"):
            with contextlib.suppress(OSError, ValueError, TypeError):
                out.append(Failure(**json.loads(self.failure(chunk).read_bytes())))
        return out

    # -- writing ------------------------------------------------------------------------------------------------------

    def create(self) -> None:
        for name in ("shards", "receipts", "failed"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def check_writable(self) -> None:
        """Throws StorageError before anything is computed if the folder cannot be written."""
        probe = _temporary(self.folder / "shards" / "probe")
        try:
            self.create()
            with open(probe, "wb") as file:
                file.write(b"0" * 4096)
                os.fsync(file.fileno())
        except OSError as error:
            if not is_storage_error(error.errno):
                raise
            raise storage_error(self.folder, error.errno, str(error)) from None
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()

    def prepare_shard(self, chunk: int, contents: Any) -> Path:
        """A shard under a name of its own, not yet synchronised."""
        temporary = _temporary(self.shard(chunk))
        try:
            with open(temporary, "wb") as file:
                file.write(contents)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        return temporary

    def commit_shard(self, temporary: Path, receipt: Receipt) -> Receipt:
        """Gives a shard its name and its receipt. If somebody else was first, theirs counts."""
        try:
            _synchronise(temporary)
            theirs = self._link(temporary, receipt)
            if theirs is not None:
                return theirs
            line = json.dumps(receipt.__dict__) + "\n"
            place = self.receipt(receipt.chunk)
            beside = _temporary(place)
            try:
                beside.write_text(line)
                os.replace(beside, place)
            finally:
                with contextlib.suppress(OSError):
                    beside.unlink()
            with contextlib.suppress(FileNotFoundError):
                self.failure(receipt.chunk).unlink()
            return receipt
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def _link(self, temporary: Path, receipt: Receipt) -> Receipt | None:
        """Links a shard to its name; the receipt of the one that is there, if it is good."""
        shard = self.shard(receipt.chunk)
        while True:
            try:
                os.link(temporary, shard)
                return None
            except FileExistsError:
                old = self.read_receipt(receipt.chunk, receipt.key)
                if old is not None and self.matches(old):
                    return old
                if self.matches(receipt):
                    return None  # the same bytes, whose receipt is missing
                self.set_aside(receipt.chunk)
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK) or shard.exists():
                    raise
                os.rename(temporary, shard)  # a file system without links
                return None

    def set_aside(self, chunk: int) -> Path | None:
        """Moves a shard that is not what its receipt says out of the way, and its receipt."""
        aside = self.folder / "set-aside"
        aside.mkdir(exist_ok=True)
        moved = None
        for path in (self.receipt(chunk), self.shard(chunk)):
            with contextlib.suppress(FileNotFoundError):
                target = aside / f"{path.name}.{time.time_ns()}"
                os.rename(path, target)
                moved = target
        return moved

    def write_failure(self, failure: Failure) -> None:
        text = json.dumps(failure.__dict__) + "\n"
        write_whole(self.failure(failure.chunk), lambda path: path.write_text(text))

    def remove_leftovers(self) -> None:
        """Removes unfinished files of processes of this machine that are gone, and day-old ones of others."""
        host = socket.gethostname()
        for name in ("", "shards", "receipts", "failed"):
            for path in (self.folder / name).glob("*.tmp.*"):
                parts = path.name.rsplit(".", 3)  # name.tmp.<host>.<pid>.<serial>, and hosts may have dots
                mine = path.name.split(".tmp.", 1)[1].startswith(host + ".")
                with contextlib.suppress(OSError, ValueError):
                    old = time.time() - path.stat().st_mtime > 86400
                    if old or (mine and not os.path.exists(f"/proc/{int(parts[2])}") and os.path.isdir("/proc/self")):
                        path.unlink()

    # -- one driver ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def lock(self, shared: bool = False) -> Iterator[None]:
        """Holds the folder: alone, or with other holders of parts. The system lets go of it when a process dies."""
        try:
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise storage_error(self.folder, error.errno, str(error)) from None
        try:
            try:
                fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 1000, 0).decode(errors="replace").strip()
                raise SweepError(f"{self.folder}: is being run by {holder or 'another process'}: wait for it, or "
                                 "stop it") from None  # fmt: skip
            if not shared:
                who = f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%Y-%m-%d %H:%M:%S')}\n"
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, who.encode(), 0)
            yield
        finally:
            os.close(descriptor)


def require_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise bad(str(folder), "is a file, a sweep needs a folder")
    if folder.is_dir() and not (folder / "manifest.json").exists():
        strangers = [p.name for p in folder.iterdir()
                     if p.name not in ("shards", "receipts", "failed", "lock", "set-aside")
                     and ".tmp." not in p.name and not p.name.startswith("rows-")]  # fmt: skip
        if strangers:
            raise bad(str(folder), f"holds other files ({strangers[0]}), and no sweep: take another folder")
