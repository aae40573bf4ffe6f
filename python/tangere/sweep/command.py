"""`tangere sweep run|status|resume|table|export DIR`, and `tangere experiment NAME --engine ENGINE`."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import engines, runs
from .errors import InputError, SweepError, bad
from .rows import Rows, grid, rows, seeds

__all__ = ["experiment_main", "main"]

EXIT_OK, EXIT_TROUBLE, EXIT_BAD_INPUT, EXIT_FAILED_CHUNKS, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


def _value(text: str) -> Any:
    """A number, true, false or null if it is one, else text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _named(text: str, what: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise bad(what, f"must be NAME=VALUE, got {text!r}")
    return name, value


def _function(text: str) -> Any:
    """FILE.py:NAME or MODULE:NAME."""
    place, colon, name = text.rpartition(":")
    if not colon or not name:
        raise bad("--function", f"must be FILE.py:NAME or MODULE:NAME, got {text!r}")
    if place.endswith(".py"):
        file = Path(place).absolute()
        if not file.is_file():
            raise bad("--function", f"there is no file {place}")
        sys.path.insert(0, str(file.parent))
        place = file.stem
    try:
        found: Any = importlib.import_module(place)
    except ModuleNotFoundError as error:
        raise bad("--function", f"{place} cannot be imported: {error}") from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise bad("--function", f"{place} has no function {name}")
        found = getattr(found, part)
    return found


def _table(arguments: argparse.Namespace) -> Rows:
    parts: list[Rows] = [rows(file) for file in arguments.rows or []]
    if arguments.grid:
        columns = dict(_named(text, "--grid") for text in arguments.grid)
        parts.append(grid(**{name: [_value(v) for v in values.split(",")] for name, values in columns.items()}))
    if arguments.seeds:
        parts.append(seeds(arguments.seeds))
    if not parts:
        raise bad("--grid", "or --rows or --seeds must say what the rows are")
    table = parts[0]
    for part in parts[1:]:
        table = table * part
    return table


def _engine(arguments: argparse.Namespace) -> Any:
    if arguments.address and arguments.engine != "ray":
        raise bad("--address", "belongs to --engine ray")
    if arguments.engine == "ray":
        known = engines.engine_of("ray")
        assert isinstance(known, engines.Ray)
        return engines.Ray(arguments.address or known.address, arguments.workers, dashboard=arguments.dashboard)
    return engines.engine_of(arguments.engine, arguments.workers)


def _share(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    k, slash, n = text.partition("/")
    if not (slash and k.isdigit() and n.isdigit() and int(k) < int(n)):
        raise bad("--task", f"must be K/N with K from 0 to N - 1, got {text!r}")
    return int(k), int(n)


def _policy(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"progress": not arguments.quiet, "tries": arguments.tries, "chunk_seconds": arguments.chunk_seconds,
            "retry_failed": arguments.retry_failed, "accept_changes": arguments.accept_changes,
            "share": _share(arguments.task)}  # fmt: skip


def _end(run: runs.Run) -> int:
    """Says how a run ended."""
    failed = run.failed
    print(run.status)
    for failure in failed[:10]:
        print(f"chunk {failure.chunk} (rows {failure.first_row} to {failure.last_row}) failed after {failure.tries} "
              f"{'try' if failure.tries == 1 else 'tries'}: {failure.error}", file=sys.stderr)  # fmt: skip
    if len(failed) > 10:
        print(f"... and {len(failed) - 10} more: tangere sweep status {run.folder}", file=sys.stderr)
    return EXIT_FAILED_CHUNKS if failed else EXIT_OK


def _run(arguments: argparse.Namespace) -> int:
    if arguments.function is None:
        if arguments.grid or arguments.rows or arguments.seeds or arguments.option:
            raise bad("--function", "must say what is to be run")
        return _resume(arguments)
    options = {name: _value(value) for name, value in (_named(text, "--option") for text in arguments.option or [])}
    return _end(runs.run(_function(arguments.function), _table(arguments), arguments.folder, chunk=arguments.chunk,
                         seed=arguments.seed, options=options, engine=_engine(arguments), **_policy(arguments)))  # fmt: skip


def _resume(arguments: argparse.Namespace) -> int:
    return _end(runs.open(arguments.folder).resume(_engine(arguments), **_policy(arguments)))


def _status(arguments: argparse.Namespace) -> int:
    run = runs.open(arguments.folder)
    status = run.status
    torn = run._store.done(run.key, contents=True)[1] if arguments.verify else []
    if arguments.json:
        failures = [asdict(failure) for failure in run.failed]
        print(json.dumps({**asdict(status), "pending": status.pending, "failures": failures, "torn_chunks": torn}))
        return EXIT_FAILED_CHUNKS if status.failed else EXIT_OK
    if torn:
        print(f"shards that are not what their receipts say: {torn}: resume makes them again", file=sys.stderr)
    return _end(run)


def _print_table(arguments: argparse.Namespace) -> int:
    run = runs.open(arguments.folder)
    if arguments.output is not None and arguments.output.endswith(".csv"):
        import pyarrow.csv

        pyarrow.csv.write_csv(run.table(), arguments.output)
        print(arguments.output)
    else:
        print(run.merge(arguments.output))
    if run.status.pending or run.status.failed:
        print(f"not all of it: {run.status}", file=sys.stderr)
    return EXIT_OK


def _export(arguments: argparse.Namespace) -> int:
    run = runs.open(arguments.folder)
    if arguments.lerobot:
        print(run.export_lerobot(arguments.lerobot, fps=arguments.fps))
    if arguments.zarr:
        print(run.export_zarr(arguments.zarr))
    if not (arguments.lerobot or arguments.zarr):
        raise bad("export", "needs --lerobot FOLDER or --zarr FOLDER")
    return EXIT_OK


def _add_policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--engine", default="local", help="local, ray or slurm (default: local)")
    parser.add_argument("--workers", type=int, help="how many chunks at once; tasks of the array for slurm")
    parser.add_argument("--address", help="of a Ray cluster that is there, or auto")
    parser.add_argument("--dashboard", action="store_true", help="Ray's dashboard, for a Ray of its own")
    parser.add_argument("--task", metavar="K/N", help="only chunks K, K + N, ..., beside others that do the rest")
    parser.add_argument("--tries", type=int, default=3, help="for a chunk that kills its worker (default: 3)")
    parser.add_argument("--chunk-seconds", type=float, help="longest time of a chunk")
    parser.add_argument("--retry-failed", action="store_true", help="try chunks again that were given up")
    parser.add_argument("--accept-changes", action="store_true", help="go on although the code changed")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tangere sweep", description=__doc__,
                                     epilog="Exit codes: 0 fine, 1 it cannot go on, 2 bad input, 3 chunks failed.")  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a function for all rows, or go on with a folder")
    run.add_argument("--function", metavar="FILE.py:NAME", help="the task (default: that of the folder)")
    run.add_argument("--grid", action="append", metavar="NAME=A,B,...", help="values of a column; every combination")
    run.add_argument("--rows", action="append", metavar="FILE", help="rows of a .parquet or .csv file")
    run.add_argument("--seeds", type=int, metavar="N", help="N rows with a seed for every row so far")
    run.add_argument("--option", action="append", metavar="NAME=VALUE", help="an argument that is the same for all")
    run.add_argument("--chunk", type=int, default=256, help="rows that are computed together (default: 256)")
    run.add_argument("--seed", type=int, default=0, help="of all random numbers (default: 0)")
    resume = commands.add_parser("resume", help="go on with a folder")
    status = commands.add_parser("status", help="how far it is")
    status.add_argument("--json", action="store_true")
    status.add_argument("--verify", action="store_true", help="compare all shards with their checksums")
    table = commands.add_parser("table", help="write all rows as one file")
    table.add_argument("-o", "--output", help=".parquet or .csv (default: table.parquet in the folder)")
    export = commands.add_parser("export", help="for other tools")
    export.add_argument("--lerobot", metavar="FOLDER", help="LeRobotDataset v3.0, an episode a row")
    export.add_argument("--fps", type=float, help="frames a second of the episodes")
    export.add_argument("--zarr", metavar="FOLDER", help="a Zarr group, an array a column")
    doers = {run: _run, resume: _resume, status: _status, table: _print_table, export: _export}
    for command, do in doers.items():
        command.add_argument("folder", metavar="DIR")
        command.set_defaults(do=do)
    _add_policy(run)
    _add_policy(resume)
    return parser


def _guarded(do: Any) -> int:
    try:
        return int(do())
    except InputError as error:
        print(f"tangere sweep: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except SweepError as error:
        print(f"tangere sweep: {error}", file=sys.stderr)
        return EXIT_TROUBLE
    except KeyboardInterrupt:
        print("tangere sweep: stopped; what is done is safe, the same command goes on", file=sys.stderr)
        return EXIT_INTERRUPTED


def main(arguments: list[str]) -> int:
    parsed = _parser().parse_args(arguments)
    return _guarded(lambda: parsed.do(parsed))


def experiment_main(arguments: list[str]) -> int:
    """An experiment of the papers as a sweep."""
    from . import papers

    parser = argparse.ArgumentParser("tangere experiment", description="An experiment of the papers as a sweep.")
    parser.add_argument("name", metavar="NAME", help=", ".join(papers.EXPERIMENTS))
    parser.add_argument("--runs", type=int, help="in every cell of the table (default: as many as the paper)")
    parser.add_argument("--output", help="folder of the sweep (default: build/sweeps/NAME)")
    parser.add_argument("--chunk", type=int, default=0, help="runs that are computed together (default: by their cost)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    _add_policy(parser)
    parsed = parser.parse_args(arguments)

    def do() -> int:
        run = papers.run(parsed.name, parsed.output, papers.Wish(parsed.runs, parsed.chunk, parsed.seed),
                         _engine(parsed), **_policy(parsed))  # fmt: skip
        if run.status.pending:
            print(run.status)
            return EXIT_OK
        print(json.dumps(papers.summary(run)) if parsed.json else papers.text(run))
        return EXIT_FAILED_CHUNKS if run.failed else EXIT_OK if papers.summary(run)["met"] else EXIT_TROUBLE

    return _guarded(do)
