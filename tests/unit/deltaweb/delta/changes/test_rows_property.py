"""Random tables: what we say changed is what plain Python counts."""

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.changes import RowDiffRequest, RowLimits
from tests.support.conditions.drawn_examples import examples
from tests.support.tables.random_tables import SCHEMA, build, counted, rows, versions
from tests.support.tables.versioned_table import VersionedTable

if TYPE_CHECKING:
    import pyarrow as pa

LIMITS = {"in memory": RowLimits(), "spread over files": RowLimits(memory_bytes=1_000)}


class TestRowsOfTwoVersions:
    @settings(max_examples=examples(30))
    @given(changes=versions, limits=st.sampled_from(sorted(LIMITS)), data=st.data())
    def test_the_difference_is_that_of_two_counters(self, changes, limits, data):
        table = build(changes)
        some_version = st.integers(0, table.version)
        first, second = data.draw(some_version), data.draw(some_version)
        delta = table.table
        written: list[pa.Table] = []

        diff = delta.compare(first, second)
        found = diff.rows(
            RowDiffRequest(
                limits=LIMITS[limits], sample_rows=1_000, write=written.append
            )
        )

        names = found.columns.schema.names
        old = counted(delta.snapshot(first).read(), names)
        new = counted(delta.snapshot(second).read(), names)
        assert counted(found.sample.inserted, names) == new - old
        assert counted(found.sample.deleted, names) == old - new
        assert found.inserted == (new - old).total()
        assert found.deleted == (old - new).total()
        assert sum(part.num_rows for part in written) == found.inserted + found.deleted

    @settings(max_examples=examples(30))
    @given(
        old=st.dictionaries(st.integers(0, 8), rows),
        new=st.dictionaries(st.integers(0, 8), rows),
        limits=st.sampled_from(sorted(LIMITS)),
        as_text=st.booleans(),
    )
    def test_with_a_key_it_is_that_of_two_dictionaries(self, old, new, limits, as_text):
        table = VersionedTable()
        key = "name" if as_text else "id"
        olds, news = (
            [{**row, key: str(number) if as_text else number} for number, row in side]
            for side in (old.items(), new.items())
        )
        table.commit(metadata=table.define(SCHEMA), add={"a": olds[:3], "b": olds[3:]})
        table.commit(remove=["a", "b"], add={"a": news[:4], "b": news[4:]})

        found = table.table.compare(0, 1).rows(
            RowDiffRequest(key=[key], limits=LIMITS[limits])
        )

        before, after = (
            {
                row[SCHEMA.names.index(key)]: row
                for row in counted(table.table.snapshot(version).read(), SCHEMA.names)
            }
            for version in (0, 1)
        )
        both = before.keys() & after.keys()
        updated = {name for name in both if before[name] != after[name]}
        cells = Counter(
            column
            for name in updated
            for column, was, now in zip(
                SCHEMA.names, before[name], after[name], strict=True
            )
            if was != now
        )
        assert found.inserted == len(after.keys() - before.keys())
        assert found.deleted == len(before.keys() - after.keys())
        assert found.updated == len(updated)
        assert found.changed_cells == cells
        assert Counter(n for names in found.sample.changed for n in names) == cells
        assert found.unmatched_keys == found.null_key_rows == 0
