"""What tests of shared versions ask of one, and read of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from deltaweb.delta.protocol.schema import StructType, parse_schema
from deltaweb.delta.scan.predicate import Predicate
from deltaweb.delta.snapshot import Snapshot
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.classification import FileRule, classify
from deltaweb.index.query.restricted_version import PREPARED_SCHEMA, RestrictedVersion
from deltaweb.index.query.shared_version import SharedVersion
from tests.support.logs.local_logs import COLUMNS, stats_of, typed_schema

CONDITIONS = [
    "id = 500",
    "id < 100",
    "name >= 'n0900'",
    "price > 200 AND id < 900",
    "day = DATE '2026-01-05'",
    "p = 1",
    "p IS NULL",
    "p = 2 OR id > 700",
    "NOT (p = 0)",
    "id IS NULL",
]


def stats_text(rows: int, low: int, high: int) -> str:
    return stats_of(rows, {"id": low}, {"id": high})


def listed(
    version: SharedVersion,
    predicates: Sequence[Predicate] = (),
    partition_filter: SQLCondition | None = None,
) -> list[dict[str, Any]]:
    if partition_filter is not None:
        version = signed(version, partition_filter)
    chosen = version.select(predicates=predicates)
    rows = [row for batch in chosen.batches() for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: str(row["path"]))


def paths(
    version: SharedVersion,
    predicates: Sequence[Predicate] = (),
    partition_filter: SQLCondition | None = None,
) -> list[str]:
    return [row["path"] for row in listed(version, predicates, partition_filter)]


def signed(version: SharedVersion, condition: SQLCondition) -> SharedVersion:
    """The files of a version that are signed under a condition, as they are."""
    return RestrictedVersion(
        version,
        protocol=version.protocol,
        metadata=version.metadata,
        schema=version.schema,
        classified=classify(version, FileRule(condition=condition)),
        prepared=PREPARED_SCHEMA.empty_table(),
    )


def is_mapped(version: SharedVersion) -> bool:
    """Whether files come from the index, but for those of later commits."""
    return version.num_files_in_memory < version.num_files


SCHEMA = parse_schema(typed_schema(**COLUMNS))


def condition(text: str) -> SQLCondition:
    return SQLCondition(text, SCHEMA)


def hint(text: str, schema: StructType = SCHEMA) -> Predicate:
    """What a condition says of files."""
    predicate = SQLCondition(text, schema).reach
    assert predicate is not None
    return predicate


def read_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if a log is replayed from now on."""

    def refuse(*_: object) -> Snapshot:
        message = "the log was replayed"
        raise AssertionError(message)

    monkeypatch.setattr("deltaweb.table.opened.load_state", refuse)
