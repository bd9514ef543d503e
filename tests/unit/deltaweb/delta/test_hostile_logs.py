"""Logs that are broken, odd or meant to harm: a right answer or a `DeltaError`.

Never another exception, never a file outside the table, never memory without bound.
"""

import contextlib
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deltaweb.delta.errors import (
    DataFileMissingError,
    DeltaError,
    PathEscapesTableError,
)
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable
from tests.delta_logs import (
    LogBuilder,
    add,
    checkpoint_bytes,
    commit_bytes,
    metadata,
    protocol,
    remove,
)

SECRET = "root:x:0:0"
HUGE = b"9" * 5000
DEEP = b"[" * 100_000 + b"]" * 100_000
START = commit_bytes(protocol(), metadata(), add("good"))


def line(action: bytes) -> bytes:
    """A commit of one line beside a good first version."""
    return action + b"\n"


def add_line(**fields: Any) -> bytes:  # noqa: ANN401  # any JSON
    return commit_bytes(add("x", **fields))


ODD_COMMITS: dict[str, bytes] = {
    "an integer of 5000 digits": line(b'{"add":{"path":"x","size":' + HUGE + b"}}"),
    "a huge number in commitInfo": line(b'{"commitInfo":{"n":' + HUGE + b"}}"),
    "an exponent beyond doubles": line(b'{"add":{"path":"x","size":1e999}}'),
    "a size just beyond a long": add_line(size=2**63),
    "a negative size": add_line(size=-1),
    "a size that is text": add_line(size="12"),
    "a size with a fraction": add_line(size=1.5),
    "a path that is a number": line(b'{"add":{"path":7}}'),
    "a path that is null": line(b'{"add":{"path":null,"size":1}}'),
    "an add without a path": line(b'{"add":{}}'),
    "a remove without a path": line(b'{"remove":{}}'),
    "an add that is a list": line(b'{"add":[]}'),
    "an add that is text": line(b'{"add":"x"}'),
    "an add and a remove in one line": line(
        b'{"add":{"path":"x"},"remove":{"path":"y"}}'
    ),
    "partition values that are a list": add_line(partitionValues=[["p", "1"]]),
    "a partition value that is an object": add_line(partitionValues={"p": {}}),
    "deep nesting in an unknown action": line(b'{"x":' + DEEP + b"}"),
    "deep nesting in commitInfo": line(b'{"commitInfo":{"x":' + DEEP + b"}}"),
    "deep nesting in an add": line(b'{"add":{"path":"x","tags":' + DEEP + b"}}"),
    "deep nesting in the stats": add_line(stats=DEEP.decode()),
    "a raw NUL in a path": line(b'{"add":{"path":"a\0b"}}'),
    "an escaped NUL in a path": line(b'{"add":{"path":"a\\u0000b"}}'),
    "a line of NULs": b"\0" * 4096 + b"\n",
    "NULs after the last line": START[:0] + b'{"txn":{}}\n' + b"\0" * 512,
    "a key twice": line(b'{"add":{"path":"a","path":"b","size":1}}'),
    "an action twice": line(b'{"add":{"path":"a"},"add":{"path":"b"}}'),
    "a key twice in metaData": line(b'{"metaData":{"id":"a","id":"b"}}'),
    "the literal null": line(b"null"),
    "null before an object": line(b'null {"add":{"path":"x"}}'),
    "null after an object": line(b'{"add":{"path":"x"}} null'),
    "a list": line(b"[1]"),
    "a number": line(b"1"),
    "two objects in a line": line(b'{"add":{"path":"x"}}{"add":{"path":"y"}}'),
    "an object over two lines": b'{"add":\n{"path":"x"}}\n',
    "a torn last line": b'{"commitInfo":{}}\n{"add":{"path":"x","si',
    "a torn line before another": b'{"add":{"path":"x"\n{"add":{"path":"y"}}\n',
    "bytes that are not UTF-8 in a path": line(b'{"add":{"path":"\xff\xfe"}}'),
    "bytes that are not UTF-8 in stats": line(
        b'{"add":{"path":"x","stats":"\xc3\x28"}}'
    ),
    "half a surrogate pair": line(b'{"add":{"path":"\\ud800"}}'),
    "UTF-16": '{"add":{"path":"x"}}\n'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf" + add_line(),
    "not JSON but NaN": line(b'{"add":{"path":"x","size":NaN}}'),
    "single quotes": line(b"{'add':{'path':'x'}}"),
    "a comment": line(b"// nothing"),
    "gzip": b"\x1f\x8b\x08\x00" + os.urandom(64),
    "an empty file": b"",
    "blank lines alone": b"\n\r\n  \n",
    "metaData that is text": line(b'{"metaData":"x"}'),
    "metaData with a schema object": line(b'{"metaData":{"schemaString":{}}}'),
    "metaData without anything": line(b'{"metaData":{}}'),
    "partition columns of numbers": line(b'{"metaData":{"partitionColumns":[1]}}'),
    "a configuration that is a list": line(b'{"metaData":{"configuration":[1]}}'),
    "a schema that is not JSON": commit_bytes(metadata(schemaString="{")),
    "a schema nested without end": commit_bytes(metadata(schemaString=DEEP.decode())),
    "a partition column twice": commit_bytes(metadata(partitionColumns=["p", "p"])),
    "a partition column of no name": commit_bytes(metadata(partitionColumns=[""])),
    "a protocol that is empty": line(b'{"protocol":{}}'),
    "a protocol of text": line(b'{"protocol":{"minReaderVersion":"1"}}'),
    "a protocol without end": line(b'{"protocol":{"minReaderVersion":' + HUGE + b"}}"),
    "a negative reader version": commit_bytes(protocol(-1)),
    "reader features that are text": commit_bytes(protocol(3, 7, readerFeatures="x")),
    "reader version 3 without features": commit_bytes(protocol(3, 7)),
    "a transaction without a version": line(b'{"txn":{"appId":"a"}}'),
    "a transaction of text": line(b'{"txn":{"appId":"a","version":"1"}}'),
    "a deletion vector of text": add_line(deletionVector="x"),
    "a deletion vector that is empty": add_line(deletionVector={}),
    "a path of 1 MB": commit_bytes(add("x" * 2**20)),
    "a deletion time beyond a long": commit_bytes(remove("x", deletionTimestamp=2**70)),
}


def look_at_all(snapshot: Snapshot) -> None:
    """Ask a snapshot for everything it can tell."""
    assert snapshot.files.num_rows == snapshot.num_files
    snapshot.files.validate(full=True)
    snapshot.files.to_pylist()
    snapshot.tombstones.to_pylist()
    assert isinstance(snapshot.size_bytes, int)
    assert isinstance(snapshot.transactions, dict)
    snapshot.timestamp.isoformat()
    assert snapshot.statistics().num_rows == snapshot.num_files


def read_or_refuse(look: Callable[[], object]) -> None:
    """Look, and let only errors of ours out of the way."""
    with contextlib.suppress(DeltaError):
        look()


@pytest.mark.parametrize("data", ODD_COMMITS.values(), ids=ODD_COMMITS.keys())
def test_an_odd_commit_is_read_right_or_refused(data: bytes) -> None:
    table = LogBuilder().raw_commit(0, START).raw_commit(1, data).table

    read_or_refuse(lambda: look_at_all(table.snapshot()))
    read_or_refuse(lambda: look_at_all(table.snapshot_metadata()))
    read_or_refuse(lambda: table.read_commit(1))
    assert [entry.version for entry in table.history()] == [1, 0]
    assert [summary.version for summary in table.commit_summaries()] == [0, 1]
    assert table.snapshot(0).files["path"].to_pylist() == ["good"]


@pytest.mark.parametrize("data", ODD_COMMITS.values(), ids=ODD_COMMITS.keys())
def test_an_odd_commit_does_not_spoil_those_beside_it(data: bytes) -> None:
    builder = LogBuilder().raw_commit(0, START).raw_commit(1, data)
    builder.commit(2, add("later"), remove("good"))

    summaries = {s.version: s for s in builder.table.commit_summaries()}

    assert summaries[2].num_added_files == summaries[2].num_removed_files == 1
    try:
        paths = builder.table.snapshot().files["path"].to_pylist()
    except DeltaError:
        return
    assert "later" in paths
    assert "good" not in paths


@pytest.mark.parametrize(
    "name",
    [
        "an integer of 5000 digits",
        "a size just beyond a long",
        "a raw NUL in a path",
        "the literal null",
        "a torn last line",
        "a torn line before another",
        "bytes that are not UTF-8 in a path",
        "an add without a path",
        "an add and a remove in one line",
        "gzip",
    ],
)
def test_a_commit_without_a_clear_meaning_is_refused(name: str) -> None:
    table = LogBuilder().raw_commit(0, START).raw_commit(1, ODD_COMMITS[name]).table

    with pytest.raises(DeltaError) as caught:
        table.snapshot()

    assert caught.value.code == "log-corrupt"
    assert "_delta_log" in caught.value.message


def test_a_line_of_50_megabytes_is_read_in_bounded_memory() -> None:
    megabytes = 50
    large = commit_bytes(add("x", tags={"k": "v" * (megabytes << 20)}), add("y"))
    table = LogBuilder().raw_commit(0, START).raw_commit(1, large).table
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    paths = table.snapshot().files["path"].to_pylist()
    summaries = list(table.commit_summaries())

    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib
    assert paths == ["good", "x", "y"]
    assert summaries[1].num_added_files == 2
    assert len(table.read_commit(1)) == 0
    assert grown_kib < 12 * megabytes * 1024


CHECKPOINT = [protocol(), metadata(), add("good")]
ODD_CHECKPOINTS: dict[str, bytes] = {
    "empty": b"",
    "not Parquet": b"PAR1 but not really PAR1",
    "torn": checkpoint_bytes(CHECKPOINT)[:-20],
    "without its beginning": checkpoint_bytes(CHECKPOINT)[20:],
    "of zeros": b"\0" * 4096,
    "with a footer beyond its end": b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1",
    "JSON": START,
}


@pytest.mark.parametrize("data", ODD_CHECKPOINTS.values(), ids=ODD_CHECKPOINTS.keys())
class TestOddCheckpoint:
    def test_is_passed_over_for_the_commits(self, data: bytes) -> None:
        builder = LogBuilder().raw_commit(0, START).commit(1, add("more"))
        builder.store.put("00000000000000000001.checkpoint.parquet", data)
        builder.hint(b'{"version":1,"size":3}')

        paths = builder.table.snapshot().files["path"].to_pylist()

        assert sorted(paths) == ["good", "more"]

    def test_is_passed_over_for_an_older_checkpoint(self, data: bytes) -> None:
        builder = LogBuilder().checkpoint(3, *CHECKPOINT)
        builder.commit(4, add("more")).commit(5, remove("good"))
        builder.store.put("00000000000000000005.checkpoint.parquet", data)

        assert builder.table.snapshot().files["path"].to_pylist() == ["more"]

    def test_is_an_error_where_nothing_else_is_left(self, data: bytes) -> None:
        builder = LogBuilder()
        builder.store.put("00000000000000000005.checkpoint.parquet", data)

        with pytest.raises(DeltaError) as caught:
            builder.table.snapshot()

        assert caught.value.code == "log-corrupt"

    def test_of_many_parts_is_passed_over_for_one_bad_part(self, data: bytes) -> None:
        builder = LogBuilder().raw_commit(0, START).commit(1, add("more"))
        builder.checkpoint(1, *CHECKPOINT, add("wrong"), parts=3)
        builder.store.put(
            "00000000000000000001.checkpoint.0000000002.0000000003.parquet", data
        )

        paths = builder.table.snapshot().files["path"].to_pylist()

        assert sorted(paths) == ["good", "more"]


@pytest.mark.parametrize(
    "hint",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"version":', id="torn"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"version":"1"}', id="text"),
        pytest.param(b'{"version":-1}', id="negative"),
        pytest.param(b'{"version":true}', id="a truth"),
        pytest.param(b'{"version":1.5}', id="a fraction"),
        pytest.param(b'{"version":' + HUGE + b"}", id="huge"),
        pytest.param(b'{"version":99999999999999999999}', id="beyond a long"),
        pytest.param(DEEP, id="deep"),
        pytest.param(b'{"version":7}', id="ahead of the log"),
        pytest.param(b'{"version":1,"parts":3}', id="of parts that are not there"),
        pytest.param(b"x" * (2 << 20), id="of two megabytes"),
    ],
)
def test_a_bad_hint_changes_nothing(hint: bytes) -> None:
    builder = LogBuilder().raw_commit(0, START).commit(1, add("more")).hint(hint)

    assert builder.table.snapshot().version == 1
    assert builder.table.latest_version() == 1


# === On a disk ===


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
def test_a_path_that_leaves_the_table_is_listed_and_never_read(
    root: Path, path: str
) -> None:
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


def test_a_log_folder_that_links_elsewhere_is_not_followed(
    root: Path, tmp_path: Path
) -> None:
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


def test_an_unreadable_schema_still_lists_files() -> None:
    builder = LogBuilder().start(add("x"), schemaString=json.dumps({"type": "map"}))

    snapshot = builder.table.snapshot()

    assert snapshot.files["path"].to_pylist() == ["x"]
    with pytest.raises(DeltaError) as caught:
        _ = snapshot.schema
    assert caught.value.code == "schema-invalid"
