"""`metadata.json`, as pyiceberg reads it."""

from dataclasses import replace
from typing import Any

import pytest
from pyiceberg.table.metadata import TableMetadataUtil

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.iceberg.metadata import TableLayout, TableVersion, snapshot_id
from deltaweb.iceberg.operations import APPEND
from deltaweb.iceberg.schema import TableColumns

LONG = PrimitiveType("long")


def version(number, timestamp_ms, *names, partitions=()):
    schema = StructType(tuple(StructField(name, LONG) for name in names))
    columns = TableColumns(schema, partitions)
    return TableVersion(
        version=number, timestamp_ms=timestamp_ms, columns=columns, num_rows=number
    )


def parsed(*versions: TableVersion, has_vectors: bool = False) -> Any:  # noqa: ANN401 (of many optional parts)
    layout = TableLayout("id", versions, has_vectors=has_vectors)
    places = [f"s3://x/{one.version}" for one in versions]
    text = layout.metadata(location="s3://x", list_locations=places)
    return TableMetadataUtil.parse_obj(text)


@pytest.mark.parametrize("has_vectors", [False, True])
def test_versions_are_snapshots_of_rising_times(*, has_vectors: bool) -> None:
    table = parsed(
        version(0, 50, "a"),
        version(2, 50, "a"),
        version(3, 40, "a", "b"),
        has_vectors=has_vectors,
    )

    assert table.format_version == (3 if has_vectors else 2)
    assert [one.timestamp_ms for one in table.snapshots] == [50, 51, 52]
    assert [one.sequence_number for one in table.snapshots] == [0, 2, 3]
    assert [one.manifest_list for one in table.snapshots][-1] == "s3://x/3"
    assert table.current_snapshot().snapshot_id == snapshot_id("id", 3)


def test_each_version_has_its_own_schema() -> None:
    table = parsed(version(0, 1, "a"), version(1, 2, "a", "b"), version(2, 3, "a", "b"))

    schemas = [table.schema_by_id(one.schema_id) for one in table.snapshots]

    assert [one.column_names for one in schemas] == [["a"], ["a", "b"], ["a", "b"]]
    assert len(table.schemas) == 2
    assert table.schema().column_names == ["a", "b"]


def test_a_table_that_was_partitioned_anew_has_both_specs() -> None:
    table = parsed(
        version(0, 1, "a", "b", partitions=("a",)),
        version(1, 2, "a", "b", partitions=("b", "a")),
    )

    assert len(table.partition_specs) == 2
    assert [field.name for field in table.spec().fields] == ["b", "a"]
    assert table.last_partition_id == 1001


def test_what_does_not_change_with_the_versions_offered_is_the_same() -> None:
    before, after = version(4, 1, "a", partitions=("a",)), version(5, 2, "a", "b")

    alone = TableLayout("id", [before], has_vectors=False)
    together = TableLayout("id", [before, after], has_vectors=False)

    assert alone.mark(4) == together.mark(4)
    assert alone.snapshot(4) == together.snapshot(4)


def test_a_snapshot_says_what_its_commit_did_and_counts() -> None:
    first, second = version(0, 1, "a"), version(1, 2, "a")
    added = replace(
        second,
        operation=APPEND,
        num_files=3,
        num_added_files=2,
        num_added_rows=7,
    )

    one, other = parsed(first, added).snapshots

    assert (one.summary.operation.value, other.summary.operation.value) == (
        "overwrite",
        "append",
    )
    assert other.summary.additional_properties == {
        "delta.version": "1",
        "added-data-files": "2",
        "added-records": "7",
        "total-data-files": "3",
        "total-records": "1",
    }


def test_manifests_with_files_that_were_added_have_other_names() -> None:
    older, added = version(4, 1, "a"), replace(version(4, 1, "a"), num_added_files=0)

    marks = {
        TableLayout("id", [one], has_vectors=False).mark(4) for one in (older, added)
    }

    assert len(marks) == 2


@pytest.mark.parametrize(("number", "before"), [(0, None), (4, snapshot_id("id", 3))])
def test_files_that_were_not_added_are_of_the_version_before(number, before) -> None:
    added = replace(version(number, 1, "a"), num_added_files=0)

    facts = TableLayout("id", [added], has_vectors=False).snapshot(number)

    assert (facts.has_added_files, facts.parent_id) == (True, before)
