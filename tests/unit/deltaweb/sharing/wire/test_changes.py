"""Lines of files that were added or removed, or hold changes, in both formats."""

import json
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.feed.feed_files import FEED_FILES_SCHEMA
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.sharing.wire import delta, parquet
from deltaweb.sharing.wire.delta import covering_protocol
from deltaweb.sharing.wire.lines import FileAnswer

KINDS = ("add", "cdc", "remove")
VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "x",
    "offset": 1,
    "sizeInBytes": 36,
    "cardinality": 2,
}
SCHEMA = FEED_FILES_SCHEMA.append(pa.field("relative_vector_path", pa.string()))


def batch(*kinds: str, **more: Any) -> pa.RecordBatch:  # noqa: ANN401 (any cell)
    rows = [
        {
            "kind": kind,
            "version": number,
            "timestamp": 1000 + number,
            "path": f"{kind}.parquet",
            "size": 5,
            "modification_time": 7,
            "partition_values": [("day", None)],
            "stats": "{}" if kind == "add" else None,
            **more,
        }
        for number, kind in enumerate(kinds)
    ]
    return pa.RecordBatch.from_pylist(rows, SCHEMA)


def answer(num_files: int, **more: Any) -> FileAnswer:  # noqa: ANN401 (URLs)
    urls = pa.array([f"https://h/{number}" for number in range(num_files)], pa.string())
    return FileAnswer(urls=urls, expiration_ms=9, id_scheme="parquet", **more)


def test_name_the_kind_of_a_file_in_the_parquet_format() -> None:
    lines = parquet.change_lines(batch(*KINDS), answer(3)).splitlines()

    objects = [json.loads(line) for line in lines]
    assert [[*one] for one in objects] == [["add"], ["cdf"], ["remove"]]
    del objects[0]["add"]["id"]
    assert objects[0]["add"] == {
        "url": "https://h/0",
        "partitionValues": {"day": None},
        "size": 5,
        "stats": "{}",
        "expirationTimestamp": 9,
        "version": 0,
        "timestamp": 1000,
    }
    assert "stats" not in objects[1]["cdf"]


def test_are_actions_in_the_delta_format() -> None:
    lines = delta.change_lines(batch(*KINDS), answer(3)).splitlines()

    actions = [json.loads(line)["file"]["deltaSingleAction"] for line in lines]
    values = {"partitionValues": {"day": None}, "size": 5}
    assert actions == [
        {
            "add": values
            | {"path": "https://h/0", "modificationTime": 7, "stats": "{}"}
            | {"dataChange": True}
        },
        {"cdc": values | {"path": "https://h/1", "dataChange": False}},
        {
            "remove": values
            | {"path": "https://h/2", "deletionTimestamp": 7, "dataChange": True}
            | {"extendedFileMetadata": True}
        },
    ]


def test_carry_the_vector_of_a_removed_file() -> None:
    files = batch("remove", deletion_vector=VECTOR, relative_vector_path="v.bin")

    line = delta.change_lines(files, answer(1, vector_urls=pa.array(["https://h/v"])))

    removed = json.loads(line)["file"]["deltaSingleAction"]["remove"]
    assert removed["deletionVector"] == VECTOR | {
        "storageType": "p",
        "pathOrInlineDv": "https://h/v",
    }


@pytest.mark.parametrize("write", [parquet.change_lines, delta.change_lines])
def test_of_no_files_are_nothing(write: Any) -> None:  # noqa: ANN401 (a function)
    assert write(batch(), answer(0)) == b""


def protocol(reader: int, *features: str) -> Protocol:
    return Protocol(
        min_reader_version=reader,
        min_writer_version=7,
        reader_features=features or None,
        writer_features=features or None,
    )


def test_come_with_a_protocol_that_covers_all_versions() -> None:
    older = protocol(1)
    vectors, mapped = protocol(3, "deletionVectors"), protocol(3, "columnMapping")

    assert covering_protocol([older]) == older
    assert covering_protocol([older, vectors, mapped]) == protocol(
        3, "deletionVectors", "columnMapping"
    )
