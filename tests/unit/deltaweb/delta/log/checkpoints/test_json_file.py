"""Checkpoints that are JSON."""

import io

import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.checkpoints import json_file
from deltaweb.delta.log.checkpoints.json_file import read_as_parquet
from tests.support.logs.delta_logs import add, commit_bytes
from tests.support.stores.memory import MemoryTableStore

NAME = "c.json"


def rows(data: bytes) -> list[dict[str, object]]:
    store = MemoryTableStore()
    store.put(NAME, data)
    buffer = read_as_parquet(store, NAME)
    found: list[dict[str, object]] = pq.read_table(io.BytesIO(buffer)).to_pylist()
    return found


def test_has_the_columns_that_some_line_has() -> None:
    domain = {"domainMetadata": {"domain": "d", "configuration": "c", "later": 1}}

    (row,) = rows(b"\xef\xbb\xbf" + commit_bytes(domain) + b"\n \r\n")

    assert row == {
        "domainMetadata": {"domain": "d", "configuration": "c", "removed": None}
    }


def test_keeps_statistics_that_are_an_object_as_their_text() -> None:
    (row,) = rows(commit_bytes(add("a", stats={"numRecords": 1})))

    assert row["add"]["stats"] == '{"numRecords":1}'  # type: ignore[index]


def test_is_read_some_lines_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_file, "LINES_AT_ONCE", 2)

    found = rows(commit_bytes(*map(add, "abcde")))

    assert [row["add"]["path"] for row in found] == list("abcde")  # type: ignore[index]


@pytest.mark.parametrize(
    "data",
    [
        b'{"add": 5}',
        b'{"add": {"path": 5}}',
        b'{"add": {"path": "a", "size": 1e300}}',
        b'{"add": {"path": "a", "tags": {"t": 5}}}',
        b'{"add": {"path": "a", "partitionValues": []}}',
        b'{"protocol": {"readerFeatures": "x"}}',
        b'{"add": {"path": "\\ud800"}}',
        b"not JSON",
        b"[1]",
        b'{"add": {"path": "\xff"}}',
        b'{"add": ' + b"[" * 100_000,
    ],
)
def test_that_is_not_of_its_types_is_a_fault(data: bytes) -> None:
    with pytest.raises(LogCorruptError, match=NAME):
        rows(data)
