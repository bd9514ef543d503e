"""Lines of an answer as actions of a log, with numbers and with texts of them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from deltaweb.storage.received.actions import TableActions, parse_actions
from deltaweb.storage.received.client import TableAnswer
from deltaweb.storage.received.errors import ProviderAnswerError

SCHEMA = '{"type":"struct","fields":[]}'
STATS = '{"numRecords":3,"minValues":{"n":1}}'
PLAIN: list[dict[str, Any]] = [
    {"protocol": {"minReaderVersion": 1}},
    {"metaData": {"id": "one", "schemaString": SCHEMA, "version": 4}},
    {
        "add": {
            "url": "http://a/1?s=x",
            "id": "f1",
            "partitionValues": {"p": "10", "q": None},
            "size": 559,
            "stats": STATS,
            "version": 4,
            "timestamp": 1_700_000_000_000,
            "expirationTimestamp": 1_999_999_999_999,
        }
    },
    {"remove": {"url": "http://a/2", "id": "f2", "partitionValues": {}, "size": 7}},
    {"cdf": {"url": "http://a/3", "id": "f3", "partitionValues": {}, "size": 8}},
    {"metaData": {"id": "one", "schemaString": SCHEMA, "version": 5}},
]
VECTOR = {
    "storageType": "p",
    "pathOrInlineDv": "http://a/dv",
    "offset": 4,
    "sizeInBytes": 40,
    "cardinality": 6,
}
DELTA: list[dict[str, Any]] = [
    {"protocol": {"deltaProtocol": {"minReaderVersion": 3, "minWriterVersion": 7}}},
    {"metaData": {"version": 4, "deltaMetadata": {"id": "one", "createdTime": 9}}},
    {
        "file": {
            "id": "f1",
            "version": 4,
            "timestamp": 1_700_000_000_000,
            "expirationTimestamp": 1_999_999_999_999,
            "deletionVectorFileId": "v1",
            "deltaSingleAction": {
                "add": {
                    "path": "http://a/1?s=x",
                    "partitionValues": {"p": "10"},
                    "size": 559,
                    "modificationTime": 5,
                    "dataChange": True,
                    "baseRowId": 0,
                    "defaultRowCommitVersion": 2,
                    "stats": STATS,
                    "deletionVector": VECTOR,
                }
            },
        }
    },
    {
        "file": {
            "id": "f2",
            "deltaSingleAction": {
                "remove": {"path": "http://a/2", "deletionTimestamp": 6, "size": 7}
            },
        }
    },
    {"metaData": {"version": 5, "deltaMetadata": {"id": "one", "createdTime": 9}}},
]


def as_texts(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return JSON whose numbers are texts, also those within statistics."""
    match value:
        case dict():
            return {name: as_texts(one) for name, one in value.items()}
        case list():
            return [as_texts(one) for one in value]
        case bool():
            return value
        case int():
            return str(value)
        case str() if value == STATS:
            return json.dumps({**json.loads(STATS), "numRecords": "3"})
    return value


def as_floats(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return JSON whose numbers have a point."""
    if isinstance(value, dict):
        return {name: as_floats(one) for name, one in value.items()}
    if isinstance(value, list):
        return [as_floats(one) for one in value]
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole else value


def parsed(lines: list[dict[str, Any]], *, is_delta: bool) -> TableActions:
    def each() -> Iterator[dict[str, Any]]:
        yield from json.loads(json.dumps(lines))

    answer = TableAnswer(4, each(), is_delta)
    return parse_actions(answer, provider="acme", root="received://acme/s/c/t")


def facts(found: TableActions) -> list[Any]:
    """Return all that was parsed, as values that compare."""
    files = [
        (
            one.kind,
            one.version,
            one.timestamp_ms,
            {
                **one.action,
                "stats": json.loads(one.action.get("stats") or "{}"),
            },
        )
        for one in found.files
    ]
    urls = sorted((path, str(one), one.url) for path, one in found.urls.items())
    return [found.protocol, found.metadata, files, urls]


@pytest.mark.parametrize("lines", [PLAIN, DELTA], ids=["parquet", "delta"])
@pytest.mark.parametrize("changed", [as_texts, as_floats])
def test_numbers_may_be_texts(lines, changed) -> None:
    is_delta = lines is DELTA

    wanted = facts(parsed(lines, is_delta=is_delta))

    assert facts(parsed(changed(lines), is_delta=is_delta)) == wanted
    assert '"' not in str(wanted[2][0][3]["size"])
    assert isinstance(wanted[2][0][3]["size"], int)


@pytest.mark.parametrize(
    ("value", "text"), [(10, "10"), (True, "true"), (1.5, "1.5"), ("a", "a")]
)
def test_partition_values_are_texts(value: object, text: str) -> None:
    file = {**PLAIN[2]["add"], "partitionValues": {"p": value, "q": None}}

    found = parsed([*PLAIN[:2], {"add": file}], is_delta=False)

    (one,) = found.files
    assert one.action["partitionValues"] == {"p": text, "q": None}


@pytest.mark.parametrize("size", ["", "x", "-1", "1.5", "9" * 30, 1.5])
@pytest.mark.parametrize("lines", [PLAIN, DELTA], ids=["parquet", "delta"])
def test_a_text_that_is_no_number_is_an_error_of_the_provider(lines, size) -> None:
    spoilt = json.loads(json.dumps(lines).replace("559", json.dumps(size)))

    with pytest.raises(ProviderAnswerError, match="not part of the protocol"):
        parsed(spoilt, is_delta=lines is DELTA)
