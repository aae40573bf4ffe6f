"""Errors of sweeps. Wrong input is an `InputError`, which names the thing and says what is wrong with it."""

from __future__ import annotations

import errno

from .._core import InputError

__all__ = ["InputError", "StorageError", "SweepError", "bad", "is_storage_error", "storage_error"]


class SweepError(RuntimeError):
    """A sweep cannot go on. What is done is safe."""


class StorageError(SweepError):
    """The folder cannot be written: full, read-only, gone."""


def bad(field: str, reason: str) -> InputError:
    """The error for wrong input: names the thing, and says what is wrong with it."""
    return InputError(field, reason)


# Errors that are the folder's doing. Other errors of the system are the task's own.
_MEANINGS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "it may not be written (permissions)",
    errno.EPERM: "it may not be written (permissions)",
    errno.EIO: "the disk reports an error",
    errno.ENOENT: "it is gone",
    errno.ENOTDIR: "it is not a folder",
    errno.ESTALE: "the network file system lost it",
    errno.EFBIG: "a file became larger than allowed",
}


def is_storage_error(number: int | None) -> bool:
    return number in _MEANINGS


def storage_error(folder: object, number: int | None, text: str, done: str = "") -> StorageError:
    """The error for a write that failed."""
    meaning = _MEANINGS.get(number or 0, text)
    tail = f" {done}" if done else ""
    return StorageError(f"{folder}: cannot be written: {meaning} ({text}).{tail}")
