"""Paths, links and odd files of a folder: never a file outside the table is read."""

import os
from pathlib import Path

import pytest

from deltaweb.delta.errors import (
    DataFileMissingError,
    DeltaError,
    PathEscapesTableError,
)
from deltaweb.table import DeltaTable
from tests.support.logs.delta_logs import add, commit_bytes, remove
from tests.support.logs.hostile_logs import START

SECRET = "root:x:0:0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small table beside a file that it must not reach."""
    (tmp_path / "secret").write_text(SECRET)
    root = tmp_path / "table"
    (root / "_delta_log").mkdir(parents=True)
    (root / "_delta_log" / f"{0:020d}.json").write_bytes(START)
    return root


def commit_path(root: Path, version: int) -> Path:
    return root / "_delta_log" / f"{version:020d}.json"


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "x/../../secret",
        "..%2Fsecret",
        "%2e%2e/secret",
        "{parent}/secret",
        "file://{parent}/secret",
        "file:{parent}/secret",
        "file:///etc/passwd",
        "/etc/passwd",
        "//etc/passwd",
        "s3://bucket/secret",
        "http://127.0.0.1:1/secret",
        "link",
        "folder/secret",
        "a%00b",
        "..",
        ".",
        "",
    ],
)
def test_a_path_that_leaves_the_table_is_listed_and_never_read(root: Path, path: str):
    (root / "link").symlink_to(root.parent / "secret")
    (root / "folder").symlink_to(root.parent)
    path = path.format(parent=root.parent)
    commit_path(root, 1).write_bytes(commit_bytes(remove("good"), add(path)))

    snapshot = DeltaTable(str(root)).snapshot()

    assert snapshot.files["path"].to_pylist() == [path]
    with pytest.raises(DeltaError) as caught:
        snapshot.read()
    assert isinstance(caught.value, PathEscapesTableError)
    assert SECRET not in str(caught.value)


def test_a_log_file_that_links_elsewhere_is_not_followed(root: Path) -> None:
    commit_path(root, 1).symlink_to(root.parent / "secret")

    with pytest.raises(PathEscapesTableError):
        DeltaTable(str(root)).snapshot()


def test_a_log_folder_that_links_elsewhere_is_not_followed(root: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "_delta_log").symlink_to(root / "_delta_log")

    with pytest.raises(PathEscapesTableError):
        DeltaTable(str(other)).snapshot()


def test_a_table_behind_a_link_is_a_table(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)

    assert DeltaTable(str(tmp_path / "alias")).snapshot().num_files == 1


def test_a_folder_named_like_a_commit_is_no_commit(root: Path) -> None:
    commit_path(root, 1).mkdir()
    (root / "_delta_log" / "_last_checkpoint").mkdir()
    (root / "_delta_log" / f"{5:020d}.checkpoint.parquet").mkdir()

    assert DeltaTable(str(root)).snapshot().version == 0


def test_a_fifo_named_like_a_commit_does_not_hang(root: Path) -> None:
    os.mkfifo(commit_path(root, 1))

    assert DeltaTable(str(root)).snapshot().version == 0


def test_a_fifo_in_the_place_of_a_file_does_not_hang(root: Path) -> None:
    os.mkfifo(root / "_delta_log" / "_last_checkpoint")
    os.mkfifo(root / "good")
    table = DeltaTable(str(root))
    snapshot = table.snapshot()
    os.mkfifo(commit_path(root, 1))

    assert table.refresh(snapshot) is snapshot
    with pytest.raises(DataFileMissingError):
        snapshot.read()


def test_a_log_that_is_a_file_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").write_bytes(START)

    with pytest.raises(DeltaError) as caught:
        DeltaTable(str(tmp_path)).snapshot()

    assert caught.value.code == "not-a-delta-table"


def test_names_that_are_not_of_the_log_are_ignored(root: Path) -> None:
    log = root / "_delta_log"
    for name in (
        "1.json",
        "0000000000000000001.json",
        "000000000000000000001.json",
        f"{1:020d}.json.tmp",
        f".{1:020d}.json.crc",
        f"{1:020d}.crc",
        f"{1:020d}.checkpoint.parquet.tmp",
        f"{1:020d}.checkpoint.0000000001.0000000000.parquet",
        f"{1:020d}.checkpoint.0000000000.0000000001.parquet",
        f"{1:020d}.checkpoint.0000000002.0000000001.parquet",
        "99999999999999999999.json",
        f"{'١' * 20}.json",
        "ünïcode",
        "new\nline.json",
    ):
        (log / name).write_text("not for us")
    (log / os.fsdecode(b"\xff\xfe.json")).write_text("not for us")

    assert DeltaTable(str(root)).snapshot().version == 0
