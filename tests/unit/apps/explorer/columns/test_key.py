import pyarrow as pa

from apps.explorer.columns.key import ColumnFacts, likely_key, read_facts
from tests.support import cases

COUNTED = ColumnFacts(num_rows=100, num_nulls=0, low=1, high=110)
SPARSE = ColumnFacts(num_rows=100, num_nulls=0, low=1, high=90_000)
REPEATED = ColumnFacts(num_rows=100, num_nulls=0, low=1, high=50)
WITH_NULLS = ColumnFacts(num_rows=100, num_nulls=1, low=1, high=110)
TEXT = ColumnFacts(num_rows=100, num_nulls=0)


class TestLikelyKey:
    @cases(
        "facts, expected",
        {
            "numbers that count": ({"a": SPARSE, "b": COUNTED}, "b"),
            "both at once": ({"a_id": TEXT, "b_id": COUNTED}, "b_id"),
            "numbers over a name": ({"a": COUNTED, "b_id": TEXT}, "a"),
            "a name alone": ({"a": SPARSE, "b_id": SPARSE}, "b_id"),
            "no null is told": ({"a_id": None, "b_id": TEXT}, "b_id"),
            "nothing is told": ({"a": None, "orderId": None}, "orderId"),
            "values repeat": ({"a_id": REPEATED, "b": COUNTED}, "b"),
            "values are missing": ({"a_id": WITH_NULLS, "b": SPARSE}, ""),
            "not a name of a key": ({"paid": TEXT, "acid": None}, ""),
        },
    )
    def test_is_the_column_that_speaks_most_for_itself(self, facts, expected):
        told = {name: fact for name, fact in facts.items() if fact is not None}

        found = likely_key(list(facts), told)

        assert (found.text if found else "") == expected

    def test_says_why(self) -> None:
        found = likely_key(["order_id"], {"order_id": COUNTED})

        assert found is not None
        assert found.reason == (
            "its name says so, its values run from 1 to 110 in 100 rows"
            " and none is NULL"
        )


class TestReadFacts:
    @staticmethod
    def facts(**columns: list[object]) -> dict[str, ColumnFacts]:
        """What two files of ten rows tell, one column of them changed."""
        values: dict[str, list[object]] = {
            "num_records": [10, 10],
            "min": [{"id": 1, "name": "a"}, {"id": 11, "name": "b"}],
            "max": [{"id": 10, "name": "x"}, {"id": 20, "name": "y"}],
            "null_count": [{"id": 0, "name": 1}, {"id": 0, "name": 2}],
        }
        return dict(read_facts(pa.table(values | columns), ["id", "name", "other"]))

    def test_adds_up_what_every_file_tells(self) -> None:
        assert self.facts() == {
            "id": ColumnFacts(num_rows=20, num_nulls=0, low=1, high=20),
            "name": ColumnFacts(num_rows=20, num_nulls=3),
        }

    @cases(
        "columns",
        {
            "rows of a file": {"num_records": [10, None]},
            "its nulls": {"null_count": [{"id": 0}, {"id": None}]},
        },
    )
    def test_what_a_file_does_not_tell_is_not_made_up(self, columns):
        assert self.facts(**columns) == {}

    def test_a_file_without_bounds_leaves_the_range_unknown(self) -> None:
        found = self.facts(min=[{"id": 1}, {"id": None}])

        assert found["id"] == ColumnFacts(num_rows=20, num_nulls=0, high=20)
