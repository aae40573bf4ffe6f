"""A sweep as a LeRobotDataset v3.0: an episode per row, a frame per entry of its nested columns.

    meta/info.json                              features, frames a second, counts
    meta/stats.json                             min, max, mean, std, count of each feature
    meta/tasks.parquet                          the task in words
    meta/episodes/chunk-000/file-000.parquet    length, place and statistics of each episode, and what else its row has (sweep/...)
    data/chunk-000/file-000.parquet             frames
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .errors import bad
from .nested import depth, is_numbers, row_arrays

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["export"]

_VERSION = "v3.0"
_FILE_MEGABYTES = 100
_FILES_OF_A_CHUNK = 1000
# Names that columns of states and controls usually have, and what the field calls them.
_USUAL = {"path": "observation.state", "x": "observation.state", "states": "observation.state", "u": "action",
          "controls": "action", "actions": "action"}  # fmt: skip
_INDICES = ("timestamp", "frame_index", "episode_index", "index", "task_index")


def _choose_features(table: pa.Table, features: dict[str, str] | None) -> dict[str, str]:
    """Feature -> column."""
    nested = [f.name for f in table.schema if depth(f.type) in (1, 2) and is_numbers(f.type)]
    if features is None:
        # arrays (time, numbers); numbers over time only where there are none of them
        nested = [name for name in nested if depth(table.schema.field(name).type) == 2] or nested
        features = {_USUAL.get(name, name): name for name in nested}
        if len(features) < len(nested):
            raise bad("features", f"must say which columns are states and actions; there are {nested}")
    if not features:
        raise bad("features", "has nothing to export: no result of the sweep is an array over time")
    for feature, column in features.items():
        if column not in nested:
            raise bad("features", f"{feature}: {column!r} is no column of arrays of numbers; there are {nested}")
        if "/" in feature or feature in _INDICES:
            raise bad("features", f"{feature!r} cannot be the name of a feature")
    return features


def _episodes(table: pa.Table, features: dict[str, str]) -> tuple[dict[str, list[np.ndarray]], list[int]]:
    """Arrays (frames, numbers) of each episode, and how many frames each has. A last state without action goes."""
    arrays = {}
    for feature, column in features.items():
        try:
            rows = row_arrays(table.column(column))
        except ValueError as error:
            raise bad(column, str(error)) from None
        arrays[feature] = [a.reshape(len(a), -1).astype(np.float32) for a in rows]
        widths = {a.shape[1] for a in arrays[feature] if len(a)}
        if len(widths) != 1:
            raise bad(column, f"must have the same width in all rows, got {sorted(widths)}")
    lengths = []
    for k in range(table.num_rows):
        own = {feature: len(entries[k]) for feature, entries in arrays.items()}
        shortest = min(own.values())
        if shortest == 0 or max(own.values()) > shortest + 1:
            raise bad("features", f"must have as many frames, or a last state more; row {k} has {own}")
        lengths.append(shortest)
        for feature in arrays:
            arrays[feature][k] = arrays[feature][k][:shortest]
    return arrays, lengths


def _statistics(values: np.ndarray) -> dict[str, list[float]]:
    values = values.reshape(len(values), -1).astype(np.float64)
    return {"min": values.min(0).tolist(), "max": values.max(0).tolist(), "mean": values.mean(0).tolist(),
            "std": values.std(0).tolist(), "count": [len(values)]}  # fmt: skip


def _frames(arrays: dict[str, list[np.ndarray]], k: int, first: int, fps: float) -> dict[str, np.ndarray]:
    """The columns of an episode."""
    count = len(next(iter(arrays.values()))[k])
    frame = np.arange(count, dtype=np.int64)
    return {**{feature: entries[k] for feature, entries in arrays.items()}, "timestamp": (frame / fps).astype(np.float32),
            "frame_index": frame, "episode_index": np.full(count, k, dtype=np.int64), "index": first + frame,
            "task_index": np.zeros(count, dtype=np.int64)}  # fmt: skip


def _arrow(columns: list[dict[str, np.ndarray]]) -> pa.Table:
    out = {}
    for name in columns[0]:
        values = np.concatenate([c[name] for c in columns])
        if values.ndim == 2 and values.shape[1] > 1:
            width = values.shape[1]
            out[name] = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), width)
        else:
            out[name] = pa.array(values.reshape(-1))
    return pa.table(out)


def _features(arrays: dict[str, list[np.ndarray]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for feature, entries in arrays.items():
        out[feature] = {"dtype": "float32", "shape": [entries[0].shape[1]], "names": None}
    for name in _INDICES:
        out[name] = {"dtype": "float32" if name == "timestamp" else "int64", "shape": [1], "names": None}
    return out


def _place(number: int) -> tuple[int, int]:
    return divmod(number, _FILES_OF_A_CHUNK)


def _write_table(folder: Path, kind: str, number: int, table: pa.Table) -> None:
    chunk, file = _place(number)
    path = folder / kind / f"chunk-{chunk:03d}" / f"file-{file:03d}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def _write_data(folder: Path, arrays: dict[str, list[np.ndarray]], lengths: list[int], fps: float) -> list[dict[str, Any]]:
    """Writes the frames, and says of each episode where they are."""
    of_frame = 4 * sum(entries[0].shape[1] for entries in arrays.values()) + 36
    episodes: list[dict[str, Any]] = []
    held: list[dict[str, np.ndarray]] = []
    number, bytes_held, first = 0, 0, 0
    for k, length in enumerate(lengths):
        if held and bytes_held + length * of_frame > _FILE_MEGABYTES << 20:
            _write_table(folder, "data", number, _arrow(held))
            held, bytes_held, number = [], 0, number + 1
        frames = _frames(arrays, k, first, fps)
        held.append(frames)
        bytes_held += length * of_frame
        chunk, file = _place(number)
        episode = {"episode_index": k, "length": length, "data/chunk_index": chunk, "data/file_index": file,
                   "dataset_from_index": first, "dataset_to_index": first + length,
                   "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0}  # fmt: skip
        for name, values in frames.items():
            episode.update({f"stats/{name}/{key}": entry for key, entry in _statistics(values).items()})
        episodes.append(episode)
        first += length
    _write_table(folder, "data", number, _arrow(held))
    return episodes


def _write_meta(folder: Path, table: pa.Table, columns: set[str], arrays: dict[str, list[np.ndarray]], episodes: list[dict[str, Any]],
                fps: float, task: str) -> None:  # fmt: skip
    for episode in episodes:
        episode["tasks"] = [task]
    scalars = [f.name for f in table.schema if depth(f.type) < 2 and f.name not in columns
               and not pa.types.is_struct(f.type) and not pa.types.is_null(f.type)]  # fmt: skip
    of_episodes = pa.Table.from_pylist(episodes)
    for name in scalars:
        of_episodes = of_episodes.append_column(f"sweep/{name}", table.column(name))
    _write_table(folder, "meta/episodes", 0, of_episodes)
    # an index of pandas, as its readers expect it
    tasks = pa.table({"task_index": pa.array([0], pa.int64()), "__index_level_0__": pa.array([task])})
    about = {"index_columns": ["__index_level_0__"], "column_indexes": [], "creator": {"library": "pyarrow",
             "version": pa.__version__}, "pandas_version": "2.0.0", "columns": [
             {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64",
              "metadata": None},
             {"name": None, "field_name": "__index_level_0__", "pandas_type": "unicode", "numpy_type": "object",
              "metadata": None}]}  # fmt: skip
    pq.write_table(tasks.replace_schema_metadata({b"pandas": json.dumps(about).encode()}), folder / "meta/tasks.parquet")
    frames = int(episodes[-1]["dataset_to_index"])
    info = {
        "codebase_version": _VERSION, "robot_type": None, "total_episodes": len(episodes), "total_frames": frames,
        "total_tasks": 1, "chunks_size": _FILES_OF_A_CHUNK, "data_files_size_in_mb": _FILE_MEGABYTES,
        "video_files_size_in_mb": 200, "fps": int(fps) if float(fps).is_integer() else fps,
        "splits": {"train": f"0:{len(episodes)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet", "video_path": None,
        "features": _features(arrays),
    }  # fmt: skip
    (folder / "meta/info.json").write_text(json.dumps(info, indent=4))
    (folder / "meta/stats.json").write_text(json.dumps(_all_statistics(arrays, episodes), indent=4))


def _all_statistics(arrays: dict[str, list[np.ndarray]], episodes: list[dict[str, Any]]) -> dict[str, Any]:
    out = {feature: _statistics(np.concatenate(entries)) for feature, entries in arrays.items()}
    for name in _INDICES:
        count = np.array([e[f"stats/{name}/count"][0] for e in episodes], dtype=float)
        mean = np.array([e[f"stats/{name}/mean"][0] for e in episodes])
        square = np.array([e[f"stats/{name}/std"][0] for e in episodes]) ** 2 + mean**2
        whole = float((count * mean).sum() / count.sum())
        spread = float(np.sqrt(max(0.0, (count * square).sum() / count.sum() - whole**2)))
        out[name] = {"min": [min(e[f"stats/{name}/min"][0] for e in episodes)],
                     "max": [max(e[f"stats/{name}/max"][0] for e in episodes)], "mean": [whole], "std": [spread],
                     "count": [int(count.sum())]}  # fmt: skip
    return out


def export(run: Run, folder: Path, *, fps: float | None = None, features: dict[str, str] | None = None,
           task: str | None = None, table: pa.Table | None = None) -> Path:  # fmt: skip
    """Writes the data set.

    `fps`: frames a second. `features`: which column is which feature (`{"observation.state": "path", "action": "u"}`;
    default: columns of arrays by their names). `task`: in words (default: the task's name). `table`: some of the rows,
    where not all are wanted.
    """
    if fps is None or not 0 < fps < 1e6:
        raise bad("fps", f"must be the frames a second of the episodes, got {fps}")
    if folder.exists():
        raise bad(str(folder), "is there already: nothing is overwritten")
    rows = run.table() if table is None else table
    if rows.num_rows == 0:
        raise bad("table", "has no row")
    chosen = _choose_features(rows, features)
    arrays, lengths = _episodes(rows, chosen)
    building = folder.with_name(f"{folder.name}.tmp.{os.getpid()}")
    building.mkdir(parents=True)
    try:
        episodes = _write_data(building, arrays, lengths, fps)
        name = run._written["identity"]["task"]["name"]
        _write_meta(building, rows, set(chosen.values()), arrays, episodes, fps, task or name.replace("_", " "))
        building.rename(folder)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return folder
