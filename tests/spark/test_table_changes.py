"""Rows compared by Spark are those that the in-process engine finds."""

import secrets
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from deltaweb.delta.changes import (
    RowChanges,
    RowDiffRequest,
    RowLimits,
    RowSample,
    SnapshotDiff,
)
from deltaweb.delta.changes.errors import RowDiffTooLargeError, VersionFilesMissingError
from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.storage.local import LocalTableStore
from tests.support import matrix
from tests.support.tables.random_tables import SCHEMA, build, counted, rows, versions
from tests.support.tables.versioned_table import Row, VersionedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Compare = Callable[..., RowChanges]
LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
WHOLE = 100_000  # rows of a sample that is all of it
# A job an example: every run has the least table, and one at random.
EXAMPLES = matrix("max_examples", [2, 6], often=[2])


def drawing(max_examples: int) -> settings:
    """As many examples; shrinking would run some hundred jobs."""
    return settings(
        max_examples=max_examples,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


@pytest.fixture
def compare(spark: "SparkSession") -> Compare:
    """Compare on Spark the rows of two versions of a local table."""
    from deltaweb.spark.table_changes import diff_rows
    from deltaweb.storage.place import TablePlace

    def run(diff: SnapshotDiff, location: str, **request: Any) -> RowChanges:  # noqa: ANN401 (its fields)
        place = TablePlace(location=location)
        return diff.rows(RowDiffRequest(**request), partial(diff_rows, spark, place))

    return run


def local_table(folder: Path) -> VersionedTable:
    return VersionedTable(LocalTableStore(str(folder / secrets.token_hex(4))))


def counts(found: RowChanges) -> dict[str, Any]:
    """Everything that is exact."""
    names = (
        "inserted",
        "deleted",
        "updated",
        "changed_cells",
        "unmatched_keys",
        "null_key_rows",
        "key",
        "columns",
        "num_files_read",
        "num_rows_read",
    )
    return {name: getattr(found, name) for name in names}


def parts_of(sample: RowSample) -> dict[str, pa.Table]:
    names = ("inserted", "deleted", "updated_before", "updated_after")
    return {name: getattr(sample, name) for name in names}


def all_changes(written: list[pa.Table]) -> Counter[tuple[Any, ...]]:
    return Counter(
        row
        for part in written
        for row in counted(part, tuple(part.column_names)).elements()
    )


def assert_same(diff: SnapshotDiff, location: str, compare: Compare, key: str) -> None:
    """Hold both engines to one answer, with every changed row."""
    keys = [key] if key else []
    here_all: list[pa.Table] = []
    there_all: list[pa.Table] = []

    here = diff.rows(RowDiffRequest(key=keys, sample_rows=WHOLE, write=here_all.append))
    there = compare(diff, location, key=keys, sample_rows=WHOLE, write=there_all.append)

    assert counts(there) == counts(here)
    assert all_changes(there_all) == all_changes(here_all)
    names = here.columns.schema.names
    for name, part in parts_of(here.sample).items():
        found = parts_of(there.sample)[name]
        assert found.schema == part.schema
        assert counted(found, names) == counted(part, names), name
    assert Counter(there.sample.changed) == Counter(here.sample.changed)


class TestParityWithTheInProcessEngine:
    @EXAMPLES
    def test_whole_rows_of_random_tables(self, tmp_path, compare, max_examples):
        @drawing(max_examples)
        @given(changes=versions, data=st.data())
        def compared(changes: list[dict[str, list[Row]]], data: st.DataObject) -> None:
            store = LocalTableStore(str(tmp_path / secrets.token_hex(4)))
            table = build(changes, store)
            some_version = st.integers(0, table.version)
            diff = table.table.compare(data.draw(some_version), data.draw(some_version))

            assert_same(diff, store.root, compare, "")

        compared()

    @EXAMPLES
    def test_rows_with_a_key_that_repeats_and_is_null(
        self, tmp_path: Path, compare: Compare, max_examples: int
    ) -> None:
        @drawing(max_examples)
        @given(
            old=st.lists(rows, min_size=3, max_size=12),
            new=st.lists(rows, min_size=3, max_size=12),
            key=st.sampled_from(["id", "name", "point"]),
        )
        def compared(old: list[Row], new: list[Row], key: str) -> None:
            table = local_table(tmp_path)
            add = {"a": old[:3], "b": old[3:], "c": old}
            table.commit(metadata=table.define(SCHEMA), add=add)
            table.commit(remove=["a", "b"], add={"a": new[:2], "b": new[2:]})

            assert_same(table.table.compare(0, 1), table.store.root, compare, key)

        compared()

    def test_a_column_of_another_type_and_many_rows(self, tmp_path, compare):
        table = local_table(tmp_path)
        before = StructType((StructField("id", LONG), StructField("value", LONG)))
        after = StructType((StructField("id", LONG), StructField("value", STRING)))
        olds = [{"id": n, "value": n} for n in range(9_000)]
        news = [{"id": n, "value": str(n) if n % 2 else None} for n in range(9_000)]
        table.commit(metadata=table.define(before), add={"a": olds})
        table.commit(metadata=table.define(after), remove=["a"], add={"b": news})

        assert_same(table.table.compare(0, 1), table.store.root, compare, "id")


class TestAChangeOfAFewFiles:
    @pytest.fixture
    def table(self, tmp_path: Path) -> VersionedTable:
        """Six files, two of which the second version replaces by one."""
        table = local_table(tmp_path)
        schema = StructType((StructField("id", LONG), StructField("amount", LONG)))
        files = {
            name: [{"id": 1000 * n + i, "amount": i} for i in range(500)]
            for n, name in enumerate("abcdef")
        }
        table.commit(metadata=table.define(schema), add=files)
        kept = [row | {"amount": -1} for row in files["b"][:200]] + files["c"]
        table.commit(remove=["b", "c"], add={"bc": kept})
        return table

    def test_no_file_that_both_versions_have_is_read_by_any_task(
        self, spark: "SparkSession", table: VersionedTable, tmp_path: Path
    ) -> None:
        from deltaweb.spark.table_changes import diff_rows
        from tests.support.stores.counted_place import CountedPlace, opened

        marks = tmp_path / "marks"
        marks.mkdir()
        place = CountedPlace(location=table.store.root, marks=marks)
        request = RowDiffRequest(key=["id"])

        found = table.table.compare(0, 1).rows(
            request, partial(diff_rows, spark, place)
        )

        assert opened(marks) == ["b-2.parquet", "bc-7.parquet", "c-3.parquet"]
        assert (found.num_files_read, found.num_rows_read) == (3, 1_700)
        assert (found.inserted, found.deleted, found.updated) == (0, 300, 200)

    def test_the_sample_has_as_many_rows_as_were_asked_for(self, table, compare):
        diff = table.table.compare(0, 1)

        found = compare(diff, table.store.root, key=["id"], sample_rows=7)

        assert {len(part) for part in parts_of(found.sample).values()} == {0, 7}
        assert found.sample.changed == (("amount",),) * 7
        before = found.sample.updated_before["id"]
        assert before == found.sample.updated_after["id"]

    def test_what_it_wrote_on_the_way_is_gone(self, table, compare, tmp_path):
        folder = tmp_path / "scratch"
        folder.mkdir()
        written: list[pa.Table] = []

        compare(
            table.table.compare(0, 1),
            table.store.root,
            folder=folder,
            write=written.append,
            limits=RowLimits(memory_bytes=1_000),
        )

        assert sum(part.num_rows for part in written) == 700
        assert list(folder.iterdir()) == []

    def test_it_tells_its_tasks_and_can_be_stopped(self, table, compare, tmp_path):
        folder = tmp_path / "scratch"
        folder.mkdir()
        diff = table.table.compare(0, 1)
        told: list[tuple[int, int]] = []

        def stop(done: int, total: int) -> None:
            told.append((done, total))
            raise InterruptedError

        with pytest.raises(InterruptedError):
            compare(diff, table.store.root, folder=folder, on_progress=stop)
        ((done, total),) = told
        assert 0 <= done <= total
        assert total > 0

    def test_two_versions_of_the_same_files_start_no_task(self, table, compare):
        found = compare(table.table.compare(1, 1), table.store.root, key=["id"])

        assert (found.inserted, found.deleted, found.updated) == (0, 0, 0)
        assert found.num_files_read == 0


class TestFaults:
    @pytest.fixture
    def table(self, tmp_path: Path) -> VersionedTable:
        table = local_table(tmp_path)
        schema = StructType((StructField("id", LONG),))
        many = [{"id": 1}] * 5_000
        table.commit(metadata=table.define(schema), add={"a": many})
        table.commit(remove=["a"], add={"b": [{"id": 2}] * 5_000})
        return table

    def test_a_file_that_is_gone_is_named_with_its_version(self, table, compare):
        Path(table.store.root, "b-2.parquet").unlink()

        with pytest.raises(VersionFilesMissingError, match=r"b-2\.parquet"):
            compare(table.table.compare(0, 1), table.store.root)

    def test_a_damaged_file_is_named(self, table: VersionedTable, compare: Compare):
        Path(table.store.root, "a-1.parquet").write_bytes(b"PAR1 no PAR1")

        with pytest.raises(DataFileError, match=r"a-1\.parquet"):
            compare(table.table.compare(0, 1), table.store.root)

    def test_equal_rows_beyond_what_a_task_may_hold_are_refused(self, table, compare):
        limits = RowLimits(memory_bytes=1_000, bucket_bytes=2_000)

        with pytest.raises(RowDiffTooLargeError):
            compare(table.table.compare(0, 1), table.store.root, limits=limits)
