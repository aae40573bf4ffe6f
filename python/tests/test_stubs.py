"""Every public name has a docstring and a type: the stubs say what is in the module, and nothing else."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import tangere as tg
from tangere import _core

STUBS = Path(tg.__file__).parent / "_core.pyi"
CLASSES = {name: thing for name, thing in vars(_core).items() if isinstance(thing, type) and not name.startswith("_")}


@pytest.fixture(scope="module")
def stubs():
    assert STUBS.is_file(), "the target tangere_python_stub makes it"
    return ast.parse(STUBS.read_text(encoding="utf-8"))


def names_in(body):
    """Names that a stub's statements define."""
    out = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            out.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            out.add(node.target.id)
        elif isinstance(node, ast.ImportFrom) and node.module == "tangere._error":
            out.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            out.update(target.id for target in node.targets)
    return out


def test_the_stubs_say_what_is_there(stubs):
    public = {name for name in vars(_core) if not name.startswith("_") and not inspect.ismodule(getattr(_core, name))}
    assert public - names_in(stubs.body) == set()
    listed = {n for n in names_in(stubs.body) if not n.startswith("_")}
    assert {n for n in listed if not hasattr(_core, n)} == set()
    for node in stubs.body:
        if not isinstance(node, ast.ClassDef) or node.name not in CLASSES:
            continue
        members = {n for n in vars(CLASSES[node.name]) if not n.startswith("_")}
        assert members - names_in(node.body) == set(), node.name
        assert {n for n in names_in(node.body) if not hasattr(CLASSES[node.name], n)} == set(), node.name


def test_every_argument_and_answer_has_a_type(stubs):
    wanting = []
    for node in ast.walk(stubs):
        if not isinstance(node, ast.FunctionDef):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        untyped = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        if untyped or (node.returns is None and node.name != "__init__"):
            wanting.append((node.name, node.lineno, untyped))
    # C++ types that nanobind has no Python name for are written in quotes with their namespace
    assert re.findall(r'"[\w:<> ,]*::[\w:<> ,]*"', STUBS.read_text(encoding="utf-8")) == []
    assert wanting == []


def test_every_public_name_has_a_docstring():
    wanting = [name for name in tg.__all__ if not (getattr(tg, name).__doc__ or "").strip()]
    for name, of in CLASSES.items():
        for member, thing in vars(of).items():
            if member.startswith("_") or not (callable(thing) or isinstance(thing, property)):
                continue
            text = (thing.__doc__ or "").strip()
            # a signature alone says nothing
            if not text or text == text.splitlines()[0] and "->" in text:
                wanting.append(f"{name}.{member}")
    assert wanting == []


def test_all_that_is_public_is_exported():
    bound = {name for name in vars(_core) if not name.startswith("_") and not inspect.ismodule(getattr(_core, name))}
    assert bound - set(tg.__all__) == set()
    assert all(hasattr(tg, name) for name in tg.__all__)


def test_help_of_a_step_suffices():
    text = tg.World.step.__doc__
    assert "x: tangere._core.State" in text and "u: " in text and "-> tangere._core.State" in text and "time step" in text
