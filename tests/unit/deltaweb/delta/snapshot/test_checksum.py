"""A version beside its checksum file."""

import json
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.log.paths import checksum_name
from deltaweb.delta.snapshot.checksum import (
    ChecksumState,
    Verdict,
    VersionFiles,
    check_version,
)
from tests.support.logs.delta_logs import LogBuilder, add, metadata, protocol, txn

LOG = LogBuilder().start(txn("app", 3), add("a", size=10), add("b", size=5000))
RIGHT: dict[str, Any] = {
    "tableSizeBytes": 5010,
    "numFiles": 2,
    "numMetadata": 1,
    "numProtocol": 1,
    "numDeletionVectorsOpt": 0,
    "setTransactions": [{"appId": "app", "version": 3}],
    **metadata(),
    **protocol(),
    "fileSizeHistogram": {
        "sortedBinBoundaries": [0, 1024],
        "fileCounts": [1, 1],
        "totalBytes": [10, 5000],
    },
}
RIGHT["metadata"] = RIGHT.pop("metaData")


def verdict_on(data: bytes) -> Verdict:
    store = LogBuilder().start(*[]).store
    store.log_files.update(LOG.store.log_files)
    store.put(checksum_name(0), data)
    return check_version(store, LOG.table.snapshot())


def test_that_is_missing_says_nothing() -> None:
    found = check_version(LOG.store, LOG.table.snapshot())

    assert found.state is ChecksumState.MISSING


def test_that_is_right_says_so() -> None:
    assert verdict_on(json.dumps(RIGHT).encode()) == Verdict(ChecksumState.RIGHT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tableSizeBytes", 1),
        ("numFiles", "2"),
        ("numMetadata", 2),
        ("numProtocol", 0),
        ("numDeletionVectorsOpt", 1),
        ("setTransactions", [{"appId": "app", "version": 4}]),
        ("setTransactions", [5]),
        ("protocol", {"minReaderVersion": 2, "minWriterVersion": 2}),
        ("protocol", []),
        ("metadata", {**RIGHT["metadata"], "id": "other"}),
        ("metadata", {"id": 5}),
        ("fileSizeHistogram", {}),
        ("fileSizeHistogram", {**RIGHT["fileSizeHistogram"], "fileCounts": [2, 0]}),
        ("fileSizeHistogram", {**RIGHT["fileSizeHistogram"], "fileCounts": [1]}),
        ("fileSizeHistogram", {**RIGHT["fileSizeHistogram"], "totalBytes": [2**70]}),
    ],
)
def test_that_is_wrong_names_the_field(name: str, value: object) -> None:
    found = verdict_on(json.dumps({**RIGHT, name: value}).encode())

    assert found == Verdict(ChecksumState.WRONG, (name,))
    assert name in found.sentence


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_that_is_torn_says_nothing(data: bytes) -> None:
    assert verdict_on(data).state is ChecksumState.UNREADABLE


def test_is_held_against_files_that_are_known_already() -> None:
    store = LogBuilder().start(*[]).store
    store.put(checksum_name(0), json.dumps({**RIGHT, "setTransactions": []}).encode())
    files = VersionFiles(pa.chunked_array([[10, 5000]]), num_vectors=1)

    found = check_version(store, LOG.table.snapshot(), files)

    assert found == Verdict(ChecksumState.WRONG, ("numDeletionVectorsOpt",))


@pytest.mark.parametrize(
    "verdict",
    [Verdict(ChecksumState.MISSING), Verdict(ChecksumState.WRONG, ("numFiles",))],
)
def test_a_verdict_is_the_same_after_json(verdict: Verdict) -> None:
    assert Verdict.of_json(json.loads(json.dumps(verdict.describe()))) == verdict


@pytest.mark.parametrize("raw", [None, {}, {"state": "x"}, {"state": []}])
def test_what_is_no_verdict_is_none(raw: object) -> None:
    assert Verdict.of_json(raw) is None
