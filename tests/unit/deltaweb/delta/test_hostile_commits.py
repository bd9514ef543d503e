"""Commits that are broken, odd or meant to harm: a right answer or a `DeltaError`.

Never another exception, never memory without bound.
"""

import contextlib
import json
import os
import resource
from collections.abc import Callable
from typing import Any

import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.snapshot import Snapshot
from tests.support import cases
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    commit_bytes,
    metadata,
    protocol,
    remove,
)
from tests.support.logs.hostile_logs import DEEP, HUGE, START

pytestmark = pytest.mark.slow


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


@cases("data", ODD_COMMITS)
def test_an_odd_commit_is_read_right_or_refused_and_spoils_none_beside_it(data):
    builder = LogBuilder().raw_commit(0, START).raw_commit(1, data)
    table = builder.table

    read_or_refuse(lambda: look_at_all(table.snapshot()))
    read_or_refuse(lambda: look_at_all(table.snapshot_metadata()))
    read_or_refuse(lambda: table.read_commit(1))
    assert [entry.version for entry in table.history()] == [1, 0]
    assert [summary.version for summary in table.commit_summaries()] == [0, 1]
    assert table.snapshot(0).files["path"].to_pylist() == ["good"]

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


def test_a_line_of_25_megabytes_is_read_in_bounded_memory() -> None:
    megabytes = 25
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


def test_an_unreadable_schema_still_lists_files() -> None:
    builder = LogBuilder().start(add("x"), schemaString=json.dumps({"type": "map"}))

    snapshot = builder.table.snapshot()

    assert snapshot.files["path"].to_pylist() == ["x"]
    with pytest.raises(DeltaError) as caught:
        _ = snapshot.schema
    assert caught.value.code == "schema-invalid"
