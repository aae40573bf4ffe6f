"""Functions that worker processes can find again: by module and name, or by file and name, with the hash of their code.

The code of a task is the syntax tree of its file without comments: moving a line or a comment changes nothing, another
number does. A task may say `version="..."` instead, and then answers itself for what else changes.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .errors import bad

__all__ = ["Reference", "Task", "code_of_machine", "task"]

# Set in workers: a script that starts a sweep while it is imported there has no guard.
IN_WORKER = "TANGERE_SWEEP_WORKER"


def _code_hash(file: Path) -> str:
    """The hash of a file's syntax tree."""
    tree = ast.parse(file.read_bytes(), filename=str(file))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def code_of_machine() -> dict[str, str]:
    """The rest that the numbers depend on: tangere, its build, NumPy."""
    import numpy

    from .. import __version__, _core

    with open(str(_core.__file__), "rb") as file:
        build = hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _digest(file)
    return {"tangere": __version__, "build": build[:16], "numpy": numpy.__version__}


def _digest(file: Any) -> str:
    out = hashlib.sha256()
    while block := file.read(1 << 20):
        out.update(block)
    return out.hexdigest()


def _search_folder(module: str, file: Path) -> Path:
    """The folder that must be on the path for `import module`."""
    depth = module.count(".") + (1 if file.name == "__init__.py" else 0)
    return file.parent if depth == 0 else file.parents[depth]


def _find(identity: dict[str, Any], where: dict[str, str]) -> Any:
    """The function that a manifest names, imported."""
    module, name = identity["module"], identity["name"]
    if where["folder"] not in sys.path and module.partition(".")[0] not in sys.modules:
        sys.path.insert(0, where["folder"])
    main = sys.modules.get("__main__")
    if getattr(main, "__file__", None) and os.path.abspath(str(main.__file__)) == where["file"]:
        found: Any = main  # the script that runs now, whose code may not run twice
    else:
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise bad("task", f"the module {module} of {name} is not found ({error}); was {where['file']}") from None
    file = found.__file__
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise bad("task", f"{file} has no function {name}")
    return found


class Reference:
    """A function, and how another process gets it."""

    def __init__(self, function: Callable[..., Any], module: str, name: str, file: Path, version: str | None) -> None:
        self.function, self.module, self.name, self.file, self.version = function, module, name, file, version

    @staticmethod
    def of(function: Any, version: str | None = None) -> Reference:
        if isinstance(function, Task):
            return function.reference
        if isinstance(function, Reference):
            return function
        name = getattr(function, "__qualname__", None)
        if not callable(function) or name is None:
            raise bad("task", f"must be a function, got {function!r}")
        if "<" in name:
            raise bad("task", f"must be a function that a file defines at its top level, got {name}")
        module = function.__module__
        try:
            file = Path(os.path.abspath(inspect.getfile(inspect.unwrap(function))))
        except TypeError:
            file = Path()
        if file.suffix != ".py" or not file.is_file():
            raise bad("task", f"{name} must be in a file, where workers find it (in a notebook: %%writefile drops.py)")
        if module == "__main__":
            module = file.stem
            spec = getattr(sys.modules["__main__"], "__spec__", None)
            if spec is not None and spec.name != "__main__":
                module = spec.name.removesuffix(".__main__") if file.name != "__main__.py" else spec.name
        return Reference(function, module, name, file, version)

    @staticmethod
    def load(identity: dict[str, Any], where: dict[str, str]) -> Reference:
        """The function of a manifest. Throws InputError if it is not there."""
        return Reference.of(_find(identity, where))

    def call(self, **arguments: Any) -> Any:
        return self.function(**arguments)

    def identity(self) -> dict[str, Any]:
        code = f"version {self.version}" if self.version is not None else _code_hash(self.file)
        return {"module": self.module, "name": self.name, "code": code}

    def where(self) -> dict[str, str]:
        return {"file": str(self.file), "folder": str(_search_folder(self.module, self.file))}


class Task:
    """A function of one row, or of a batch of rows."""

    def __init__(self, function: Callable[..., Any], batch: bool, version: str | None, files: Iterable[str]) -> None:
        self.reference = Reference.of(function, version)
        self.function, self.batch = function, batch
        self.files = tuple(os.fspath(file) for file in files)
        self.__doc__, self.__name__, self.__qualname__ = function.__doc__, function.__name__, function.__qualname__
        self.__module__, self.__wrapped__ = function.__module__, function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    @staticmethod
    def of(function: Any) -> Task:
        return function if isinstance(function, Task) else Task(function, False, None, ())

    @staticmethod
    def load(identity: dict[str, Any], where: dict[str, str]) -> Task:
        return Task.of(_find(identity, where))

    def identity(self) -> dict[str, Any]:
        return {**self.reference.identity(), "batch": self.batch}

    def file_paths(self) -> dict[str, str]:
        """Scenes and other files that it reads, by name."""
        return {name: str(self._find(name)) for name in self.files}

    def _find(self, name: str) -> Path:
        from .. import scene_file

        path = self.reference.file.parent / name
        if path.is_file():
            return path
        if os.path.basename(name) == name:
            return scene_file(name)
        raise bad("files", f"{name} of the task {self.reference.name} is not there (relative to {path.parent})")

    def check_arguments(self, columns: Iterable[str], options: Iterable[str]) -> None:
        """Throws InputError unless rows with these columns can be its arguments."""
        if self.batch:
            return
        parameters = self._parameters
        kinds = {p.kind for p in parameters.values()}
        if inspect.Parameter.VAR_KEYWORD in kinds:
            return
        given = {*columns, *options}
        takes = {n for n, p in parameters.items() if p.kind is not inspect.Parameter.POSITIONAL_ONLY}
        needs = {n for n in takes if parameters[n].default is inspect.Parameter.empty} - {"rng", "row"}
        name = self.reference.name
        if missing := sorted(needs - given):
            raise bad("rows", f"{name} needs the argument {missing[0]!r}, and there is no such column or option")
        if extra := sorted(given - takes - {"index"}):
            raise bad("rows", f"{name} has no argument {extra[0]!r}, which is a column or option (or take **others)")

    def passed(self, columns: Iterable[str]) -> list[str]:
        """The columns that are its arguments: all, but `index` only if it has one."""
        any_name = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in self._parameters.values())
        return [name for name in columns if name != "index" or any_name or name in self._parameters]

    def takes(self, argument: str) -> bool:
        """Whether it wants what only some tasks want: `rng`, `row`."""
        return argument in self._parameters

    @functools.cached_property
    def _parameters(self) -> Any:
        return inspect.signature(self.function).parameters


def task(
    function: Callable[..., Any] | None = None,
    *,
    batch: bool = False,
    version: str | None = None,
    files: Iterable[str] = (),
) -> Any:
    """Makes a function the task of a sweep.

    It gets the columns of a row as arguments; also the row's index if it has an argument `row`, and a random generator
    of the row's own if it has an argument `rng`. It gives a dictionary of results: numbers, text, NumPy arrays (nested columns). With `batch` it gets a dictionary of
    columns for all rows of a chunk, and gives one. `files`: scenes that it reads, which belong to the sweep by their
    contents. `version` stands for its code, instead of the hash of its file.
    """
    if function is None:
        return lambda f: Task(f, batch, version, files)
    return Task(function, batch, version, files)
