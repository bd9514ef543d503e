"""Two versions of a table: files, rows, and how little of it is read."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.changes import RowDiffRequest, RowLimits
from deltaweb.delta.changes.errors import (
    RowDiffKeyError,
    RowDiffTooLargeError,
    VersionFilesMissingError,
)
from deltaweb.delta.errors import (
    ColumnNotFoundError,
    ColumnTypeError,
    UnsupportedFeatureError,
    VersionNotFoundError,
)
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.delta_logs import commit_bytes, protocol
from tests.support.tables.span_table import SPAN, write_span_table
from tests.support.tables.versioned_table import Row, VersionedTable

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")


def schema(**columns: DataType) -> StructType:
    return StructType(tuple(StructField(name, kind) for name, kind in columns.items()))


SCHEMA = schema(id=LONG, name=STRING)


def row(number: int | None, name: str | None = "a") -> Row:
    return {"id": number, "name": name}


@pytest.fixture
def table() -> VersionedTable:
    """Version 0 loads a, b and c; 1 updates a; 2 compacts b and c; 3 appends d."""
    written = VersionedTable()
    written.commit(
        metadata=written.define(SCHEMA, {"x": "1"}),
        add={"a": [row(1), row(2)], "b": [row(3)], "c": [row(4)]},
    )
    written.commit(remove=["a"], add={"a": [row(1), row(2, "b")]})
    written.commit(remove=["b", "c"], add={"bc": [row(3), row(4)]}, data_change=False)
    written.commit(add={"d": [row(5)]})
    return written


def compare(table: VersionedTable, first: int, second: int, **request: Any) -> Any:  # noqa: ANN401 (of the request)
    return table.table.compare(first, second).rows(RowDiffRequest(**request))


class TestFiles:
    def test_shared_rewritten_and_changed_files_are_told_apart(self, table):
        files = table.table.compare(0, 3).files

        counts = [
            part.num_rows
            for part in (files.added, files.removed, files.replaced, files.replacing)
        ]
        assert counts == [2, 1, 2, 1]
        assert files.num_shared == 0

    def test_the_way_back_is_the_other_way_round(self, table: VersionedTable) -> None:
        there, back = table.table.compare(0, 3).files, table.table.compare(3, 0).files

        assert back.added.equals(there.removed)
        assert back.removed.equals(there.added)
        assert back.replaced.equals(there.replacing)

    def test_one_version_twice_differs_in_nothing(self, table: VersionedTable) -> None:
        diff = table.table.compare(2, 2)

        assert diff.files.num_differing == 0
        assert diff.schema.count == diff.properties.count == diff.protocol.count == 0

    def test_without_the_commits_between_rewrites_are_not_known(self, table):
        diff = table.table.compare(1, 2)
        table.store.delete("00000000000000000002.json")

        assert diff.files.rewrites_known is False
        assert (diff.files.added.num_rows, diff.files.removed.num_rows) == (1, 2)

    def test_a_version_that_is_not_there_names_the_range(self, table: VersionedTable):
        with pytest.raises(VersionNotFoundError, match="from 0 to 3"):
            table.table.compare(0, 9)


class TestWhatIsRead:
    def test_no_file_that_both_versions_share_is_opened(self, table: VersionedTable):
        found = compare(table, 0, 1)

        assert sorted(table.store.opened) == ["a-1.parquet", "a-4.parquet"]
        assert found.num_files_read == 2

    def test_no_file_that_was_only_rewritten_is_opened(self, table: VersionedTable):
        found = compare(table, 1, 2)

        assert table.store.opened == []
        assert (found.inserted, found.deleted) == (0, 0)

    def test_the_estimate_is_what_is_read(self, table: VersionedTable) -> None:
        diff = table.table.compare(0, 3)
        estimate = diff.estimate()
        read: list[tuple[int, int]] = []
        diff.rows(RowDiffRequest(on_progress=lambda *seen: read.append(seen)))

        assert (estimate.num_files, estimate.num_skipped_files) == (3, 3)
        assert read[-1] == (3, 3)
        assert len(table.store.opened) == 3
        assert estimate.size_bytes > 0

    def test_comparing_what_the_log_says_opens_no_file(self, table: VersionedTable):
        diff = table.table.compare(0, 3)
        _ = diff.schema, diff.properties, diff.protocol, diff.details, diff.files

        assert table.store.opened == []


class TestRowsByAKey:
    def test_an_update_tells_its_changed_cells(self, table: VersionedTable) -> None:
        found = compare(table, 0, 1, key=["id"])

        assert (found.inserted, found.deleted, found.updated) == (0, 0, 1)
        assert found.changed_cells == {"name": 1}
        assert found.sample.changed == (("name",),)
        assert found.sample.updated_before.to_pylist() == [row(2, "a")]
        assert found.sample.updated_after.to_pylist() == [row(2, "b")]

    def test_every_change_is_written_with_its_kind(self, table: VersionedTable) -> None:
        written: list[pa.Table] = []
        compare(table, 0, 3, key=["id"], write=written.append)

        kinds = pa.concat_tables(written)["_change_type"].to_pylist()
        assert kinds == ["insert", "update_preimage", "update_postimage"]

    def test_keys_with_several_changed_rows_are_inserts_and_deletes(self) -> None:
        table = VersionedTable()
        table.commit(
            metadata=table.define(SCHEMA), add={"a": [row(1), row(1, "x"), row(2)]}
        )
        table.commit(remove=["a"], add={"a": [row(1, "y"), row(1, "x"), row(1, "z")]})

        found = compare(table, 0, 1, key=["id"])

        assert (found.inserted, found.deleted, found.updated) == (2, 2, 0)
        assert found.unmatched_keys == 1

    def test_a_duplicate_that_did_not_change_is_in_nobodys_way(self) -> None:
        table = VersionedTable()
        table.commit(metadata=table.define(SCHEMA), add={"a": [row(1), row(1, "x")]})
        table.commit(remove=["a"], add={"a": [row(1, "y"), row(1, "x")]})

        found = compare(table, 0, 1, key=["id"])

        assert (found.inserted, found.deleted, found.updated) == (0, 0, 1)

    def test_a_null_in_the_key_matches_nothing(self) -> None:
        table = VersionedTable()
        table.commit(metadata=table.define(SCHEMA), add={"a": [row(None), row(1)]})
        table.commit(remove=["a"], add={"a": [row(None, "x"), row(1)]})

        found = compare(table, 0, 1, key=["id"])

        assert (found.inserted, found.deleted, found.updated) == (1, 1, 0)
        assert found.null_key_rows == 2

    def test_a_column_that_is_nowhere_is_refused(self, table: VersionedTable) -> None:
        with pytest.raises(ColumnNotFoundError):
            compare(table, 0, 1, key=["nope"])


class TestAColumnOfATypeThatIsNotKnown:
    def test_is_refused_since_it_may_be_all_that_differs(self, tmp_path: Path) -> None:
        folder = write_span_table(tmp_path / "t")
        again = (folder / "_delta_log" / commit_name(0)).read_bytes()
        other = again.replace(b"1.parquet", b"2.parquet")
        (folder / "_delta_log" / commit_name(1)).write_bytes(other)

        with pytest.raises(ColumnTypeError, match=f"'span'.*{SPAN}"):
            DeltaTable(str(folder)).compare(0, 1).rows(RowDiffRequest())


class TestVersionsOfOtherSchemas:
    @staticmethod
    def changed(before: StructType, old: Row, after: StructType, new: Row) -> Any:  # noqa: ANN401 (the changes)
        table = VersionedTable()
        table.commit(metadata=table.define(before), add={"a": [old]})
        table.commit(metadata=table.define(after), remove=["a"], add={"a": [new]})
        return table.table.compare(0, 1).rows()

    def test_a_column_that_a_version_lacks_is_null_in_it(self) -> None:
        found = self.changed(
            schema(id=LONG, old=STRING),
            {"id": 1, "old": None},
            schema(id=LONG, new=STRING),
            {"id": 1, "new": None},
        )

        assert (found.inserted, found.deleted) == (0, 0)
        assert found.columns.only_before == ("old",)
        assert found.columns.only_after == ("new",)

    @cases(
        "before, old, after, new",
        {
            "a wider whole number": (PrimitiveType("integer"), 1, LONG, 1),
            "a wider decimal": (
                DecimalType(5, 2),
                Decimal("1.50"),
                DecimalType(8, 3),
                Decimal("1.500"),
            ),
            "a struct with one field more": (
                schema(x=LONG),
                {"x": 1},
                schema(x=LONG, y=STRING),
                {"x": 1, "y": None},
            ),
            "items that are wider": (
                ArrayType(PrimitiveType("integer")),
                [1, None],
                ArrayType(LONG),
                [1, None],
            ),
            "null of any type": (LONG, None, STRING, None),
        },
    )
    def test_equal_values_of_other_types_are_equal(self, before, old, after, new):
        found = self.changed(schema(c=before), {"c": old}, schema(c=after), {"c": new})

        assert (found.inserted, found.deleted) == (0, 0)

    @cases(
        "before, old, after, new",
        {
            "a number that became text": (LONG, 1, STRING, "1"),
            "bytes that became text": (PrimitiveType("binary"), b"a", STRING, "61"),
            "a struct to its text": (schema(x=LONG), {"x": 1}, STRING, '{"x": 1}'),
        },
    )
    def test_types_without_a_common_one_are_shown_as_text_and_never_equal(
        self,
        before: DataType,
        old: Any,  # noqa: ANN401 (any cell)
        after: DataType,
        new: Any,  # noqa: ANN401 (any cell)
    ) -> None:
        found = self.changed(schema(c=before), {"c": old}, schema(c=after), {"c": new})

        assert (found.inserted, found.deleted) == (1, 1)
        assert found.columns.as_text == ("c",)
        assert found.sample.deleted["c"].to_pylist() == [new]

    @cases(
        "before, after",
        {
            "of another type": (schema(id=LONG), schema(id=STRING)),
            "of one version": (schema(id=LONG), schema(other=LONG)),
        },
    )
    def test_a_key_must_be_the_same_in_both(self, before, after):
        table = VersionedTable()
        table.commit(metadata=table.define(before))
        table.commit(metadata=table.define(after))

        with pytest.raises(RowDiffKeyError):
            compare(table, 0, 1, key=["id"])

    def test_the_kind_of_a_change_takes_no_columns_name(self) -> None:
        named = schema(_change_type=STRING)
        table = VersionedTable()
        table.commit(metadata=table.define(named))
        table.commit(add={"a": [{"_change_type": "x"}]})
        written: list[pa.Table] = []

        compare(table, 0, 1, write=written.append)

        assert written[0].to_pylist() == [
            {"__change_type": "insert", "_change_type": "x"}
        ]


class TestFaults:
    def test_files_that_are_gone_are_named(self, table: VersionedTable) -> None:
        diff = table.table.compare(0, 1)
        table.store.lost = True

        with pytest.raises(VersionFilesMissingError, match=r"version 0.*a-1\.parquet"):
            diff.rows()

    def test_more_rows_than_the_limit_are_a_clear_error(self) -> None:
        table = VersionedTable()
        table.commit(metadata=table.define(SCHEMA))
        table.commit(add={"a": [row(1)] * 500})

        limits = RowLimits(memory_bytes=100, bucket_bytes=1_000)
        with pytest.raises(RowDiffTooLargeError):
            compare(table, 0, 1, limits=limits)

    def test_more_rows_than_the_disk_may_take_are_a_clear_error(self) -> None:
        table = VersionedTable()
        table.commit(metadata=table.define(SCHEMA))
        table.commit(add={"a": [row(number) for number in range(500)]})

        limits = RowLimits(memory_bytes=100, disk_bytes=1_000)
        with pytest.raises(RowDiffTooLargeError):
            compare(table, 0, 1, limits=limits)

    def test_spread_rows_leave_no_files(self, tmp_path: Path) -> None:
        table = VersionedTable()
        table.commit(metadata=table.define(SCHEMA))
        table.commit(add={"a": [row(number) for number in range(500)]})

        limits = RowLimits(memory_bytes=500)
        found = compare(table, 0, 1, limits=limits, folder=tmp_path)

        assert found.inserted == 500
        assert list(tmp_path.iterdir()) == []

    def test_a_version_that_may_not_be_read_is_compared_by_its_metadata(self) -> None:
        table = VersionedTable()
        table.commit(metadata=table.define(SCHEMA))
        features = {"readerFeatures": ["teleport"], "writerFeatures": ["teleport"]}
        table.store.put_if_absent(
            "00000000000000000001.json", commit_bytes(protocol(3, 7, **features))
        )

        diff = table.table.compare(0, 1)

        assert [change.name for change in diff.protocol.added] == ["teleport"]
        assert diff.schema.count == 0
        with pytest.raises(UnsupportedFeatureError):
            _ = diff.files
