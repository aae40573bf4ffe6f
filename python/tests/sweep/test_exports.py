"""Exports: read by what others wrote."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sweep_tasks as tasks
from conftest import wave
from tangere import InputError, sweep


@pytest.fixture(scope="module")
def episodes(tmp_path_factory):
    """Twenty episodes of 5 to 7 frames: states, one longer than the controls."""
    return sweep.run(tasks.episode, sweep.seeds(20), tmp_path_factory.mktemp("e") / "s", chunk=6, workers=2)


def test_lerobot_has_all_that_its_format_asks_for(episodes, tmp_path):
    folder = episodes.export_lerobot(tmp_path / "set", fps=50, task="swing")
    info = json.loads((folder / "meta/info.json").read_text())
    assert info["codebase_version"] == "v3.0" and info["fps"] == 50 and info["splits"] == {"train": "0:20"}
    assert set(info) == {"codebase_version", "robot_type", "total_episodes", "total_frames", "total_tasks", "chunks_size",
                         "data_files_size_in_mb", "video_files_size_in_mb", "fps", "splits", "data_path", "video_path",
                         "features"}  # fmt: skip
    frames = pq.read_table(folder / info["data_path"].format(chunk_index=0, file_index=0))
    assert set(frames.column_names) == set(info["features"]) and frames.num_rows == info["total_frames"]
    for name, feature in info["features"].items():
        kind = frames.schema.field(name).type
        width = kind.list_size if pa.types.is_fixed_size_list(kind) else 1
        inner = kind.value_type if pa.types.is_fixed_size_list(kind) else kind
        assert [width] == feature["shape"] and {"float": "float32"}.get(str(inner), str(inner)) == feature["dtype"]
    # episode by episode, the numbers of the table
    table = episodes.table().to_pylist()
    listed = pq.read_table(folder / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert len(listed) == 20 and [e["tasks"] for e in listed] == [["swing"]] * 20
    for row, episode in zip(table, listed):
        part = frames.slice(episode["dataset_from_index"], episode["length"])
        assert episode["length"] == len(row["u"]) == len(row["path"]) - 1
        np.testing.assert_allclose(part.column("observation.state").to_pylist(), row["path"][:-1], rtol=1e-6)
        np.testing.assert_allclose(part.column("action").to_pylist(), row["u"], rtol=1e-6)
        assert set(part.column("episode_index").to_pylist()) == {row["row"]}
        np.testing.assert_allclose(part.column("timestamp").to_numpy(), np.arange(episode["length"]) / 50, rtol=1e-6)
        np.testing.assert_allclose(episode["stats/action/max"], np.max(row["u"], axis=0), rtol=1e-6)
        assert episode["sweep/seed"] == row["seed"] and episode["sweep/reached"] == row["reached"]
    assert frames.column("index").to_pylist() == list(range(frames.num_rows))
    stats = json.loads((folder / "meta/stats.json").read_text())
    states = np.concatenate([row["path"][:-1] for row in table])
    np.testing.assert_allclose(stats["observation.state"]["mean"], states.mean(0), rtol=1e-6)
    np.testing.assert_allclose(stats["index"]["std"], [np.arange(frames.num_rows).std()], rtol=1e-9)
    assert set(stats) == set(info["features"])


def test_pandas_reads_the_tasks_as_lerobot_does(episodes, tmp_path):
    pandas = pytest.importorskip("pandas")
    folder = episodes.export_lerobot(tmp_path / "set", fps=50, task="swing")
    read = pandas.read_parquet(folder / "meta/tasks.parquet")
    assert read.index.tolist() == ["swing"] and read.loc["swing"].task_index == 0


def test_large_sets_are_several_files(episodes, tmp_path, monkeypatch):
    from tangere.sweep import export_lerobot

    monkeypatch.setattr(export_lerobot, "_FILE_MEGABYTES", 0)
    monkeypatch.setattr(export_lerobot, "_FILES_OF_A_CHUNK", 8)
    folder = episodes.export_lerobot(tmp_path / "set", fps=50)
    assert len(list(folder.glob("data/chunk-*/file-*.parquet"))) == 20
    listed = pq.read_table(folder / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    for episode in listed:
        place = f"data/chunk-{episode['data/chunk_index']:03d}/file-{episode['data/file_index']:03d}.parquet"
        assert pq.read_table(folder / place).num_rows == episode["length"]


def test_what_lerobot_cannot_hold_is_told(episodes, tmp_path):
    with pytest.raises(InputError, match="fps: must be"):
        episodes.export_lerobot(tmp_path / "set")
    with pytest.raises(InputError, match="'z' is no column of arrays of numbers; there are .'path', 'u'"):
        episodes.export_lerobot(tmp_path / "set", fps=1, features={"action": "z"})
    flat = sweep.run(tasks.mixed, [{"x": 5}], tmp_path / "flat")
    with pytest.raises(InputError, match="must have|nothing to export|as many frames"):
        sweep.run(tasks.any_columns, [{"x": 5}], tmp_path / "none").export_lerobot(tmp_path / "set", fps=1)
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="nothing is overwritten"):
        episodes.export_lerobot(tmp_path / "there", fps=1)
    assert not list(tmp_path.glob("set*")) and flat.status.done == 1


def test_zarr(episodes, tmp_path):
    zarr = pytest.importorskip("zarr", "3.0")
    folder = episodes.export_zarr(tmp_path / "set.zarr")
    group = zarr.open_group(str(folder), mode="r")
    table = episodes.table()
    assert group["seed"][...].tolist() == table.column("seed").to_pylist()
    assert group.attrs["tangere.sweep"]["task"]["name"] == "episode" and group.attrs["left_out"] == []
    # ragged: values and lengths
    lengths = group["path"]["lengths"][...]
    ends = np.cumsum(lengths)
    for k, row in enumerate(table.column("path").to_pylist()):
        assert np.array_equal(group["path"]["values"][ends[k] - lengths[k] : ends[k]], np.array(row))
    # of one shape: one array
    assert np.array_equal(group["goal"][...], np.array(table.column("goal").to_pylist()))
    with pytest.raises(InputError, match="nothing is overwritten"):
        episodes.export_zarr(folder)


def test_zarr_of_columns_of_all_kinds(tmp_path):
    zarr = pytest.importorskip("zarr", "3.0")
    run = wave(tmp_path / "s", workers=2)
    group = zarr.open_group(str(run.export_zarr(tmp_path / "z")), mode="r")
    assert group["name"][7] == "row 7" and group["count"].dtype == np.int64
    assert np.isnan(group["maybe"][1]) and group["maybe"][5] == 0.5
    assert group["flags"]["values"][...].dtype == bool


def test_the_command_exports(episodes, tmp_path):
    command = [sys.executable, "-m", "tangere", "sweep", "export", episodes.folder]
    done = subprocess.run([*command, "--lerobot", tmp_path / "set", "--fps", "50"], capture_output=True, text=True,
                          timeout=60)  # fmt: skip
    assert done.returncode == 0 and (tmp_path / "set" / "meta" / "info.json").is_file(), done.stderr
    nothing = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert nothing.returncode == 2 and "--lerobot" in nothing.stderr


def test_duckdb_reads_the_merged_table(episodes):
    duckdb = pytest.importorskip("duckdb")
    file = episodes.merge()
    count, frames = duckdb.sql(f"select count(*), sum(len(path)) from '{file}'").fetchall()[0]
    assert count == 20 and frames == sum(len(p) for p in episodes.table().column("path").to_pylist())
