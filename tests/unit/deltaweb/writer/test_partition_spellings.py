"""One partition value has many texts: writers agree about the value, not the text."""

from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.values.partition_values import type_partition_texts
from deltaweb.table import DeltaTable
from tests.support import by_turns
from tests.support.logs.spelled_partitions import SPELLINGS, append_spelled, spelled
from tests.support.tables.table_builder import TableBuilder, numbers

pytestmark = pytest.mark.slow

EACH_TYPE = pytest.mark.parametrize("name", SPELLINGS)
WITH_VECTORS = {"delta.enableDeletionVectors": "true"}


def rows_of(name: str, *values: int) -> pa.Table:
    """Rows of the partition that a type's texts name."""
    kind, texts = SPELLINGS[name]
    column = schema_of_arrow(pa.schema({"p": kind})).fields[0]
    value = type_partition_texts(pa.array(texts[:1], pa.string()), column.data_type)
    return pa.table({"n": [*values], "p": pa.concat_arrays([value] * len(values))})


def table_of(name: str, *texts: str | None, **properties: str) -> DeltaTable:
    """A table with a file of two rows for each text: 0 and 1, 10 and 11..."""
    rows = rows_of(name, 0)
    builder = TableBuilder().columns(rows.schema).partitioned_by("p")
    table = builder.properties(properties).build()
    for place, text in enumerate(texts):
        append_spelled(table, rows_of(name, 10 * place, 10 * place + 1), p=text)
    return table


class TestOnePartition:
    @EACH_TYPE
    def test_rows_take_the_place_of_all_its_files(self, name: str) -> None:
        table = table_of(name, *SPELLINGS[name][1])

        table.overwrite(rows_of(name, 99), dynamic=True)

        assert numbers(table) == [99]

    @EACH_TYPE
    def test_its_files_are_packed_together(self, name: str) -> None:
        texts = SPELLINGS[name][1]
        table = table_of(name, *texts)

        result = table.optimize()

        assert (result.num_removed_files, result.num_added_files) == (len(texts), 1)
        assert spelled(table) == [{"p": texts[0]}]

    def test_stays_beside_others(self) -> None:
        table = table_of("double", "1.0E10", "1.0E11", "NaN", "")

        table.overwrite(rows_of("double", 99), dynamic=True)

        assert numbers(table) == [10, 11, 20, 21, 30, 31, 99]


CHANGES: dict[str, Any] = {
    "optimize": lambda table: table.optimize(),
    "delete": lambda table: table.delete("n % 10 = 0"),
    "update": lambda table: table.update({"n": "n + 100"}, "n % 10 = 0"),
    "merge": lambda table: (
        table.merge(pa.table({"k": [0, 10]}), on="t.n = s.k")
        .when_matched_update({"n": "s.k + 100"})
        .execute()
    ),
    "replace": lambda table: table.overwrite(
        table.snapshot().read().slice(0, 0), where="n % 10 = 0"
    ),
    "restore": lambda table: (
        table.delete(),
        table.restore(table.latest_version() - 1),
    ),
}


class TestRewrite:
    @by_turns(
        {
            "change": CHANGES,
            "name": ["timestamp", "double", "null"],
            "properties": {"rewritten": {}, "vectors": WITH_VECTORS},
        },
    )
    def test_keeps_the_text_of_a_partition(self, name, change, properties):
        text = SPELLINGS[name][1][1]
        table = table_of(name, text, text, **properties)

        change(table)

        assert {said["p"] for said in spelled(table)} == {text}

    def test_writes_ours_where_a_row_comes_to_a_partition(self) -> None:
        table = table_of("integer", "07")

        table.update({"p": "8"}, "n = 0")

        assert spelled(table) == [{"p": "07"}, {"p": "8"}]

    def test_keeps_each_text_of_a_partition_that_has_several(self) -> None:
        table = table_of("integer", "07", "7", "+7")

        table.update({"n": "n + 100"})

        assert spelled(table) == [{"p": "+7"}, {"p": "07"}, {"p": "7"}]
        assert numbers(table) == [100, 101, 110, 111, 120, 121]

    def test_writes_ours_for_new_rows_of_a_partition(self) -> None:
        table = table_of("integer", "07")
        merge = table.merge(rows_of("integer", 1, 5), on="t.n = s.n AND t.p = s.p")

        merge.when_matched_update({"n": "t.n + 10"}).when_not_matched_insert().execute()
        table.overwrite(rows_of("integer", 50), where="n >= 11")

        assert numbers(table) == [0, 5, 50]
        assert spelled(table) == [{"p": "07"}, {"p": "7"}, {"p": "7"}]

    def test_tells_of_changes_by_the_same_text(self) -> None:
        table = table_of("integer", "07", **{"delta.enableChangeDataFeed": "true"})

        result = table.delete("n = 0")

        told = [a["cdc"] for a in table.read_commit(result.version or 0) if "cdc" in a]
        assert [action["partitionValues"] for action in told] == [{"p": "07"}]
