"""Statistics have columns for what was asked for, whether they say something or not."""

import pytest

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.values.statistics.shape import statistics_shape
from tests.support.logs.parsed_statistics import SCHEMA, parsed


class TestShape:
    def test_is_of_the_columns_asked_for_alone(self) -> None:
        shape = statistics_shape(SCHEMA, ["st.y", "list", "bin", "a.b"])

        assert shape.bounds.names == ("st", "a.b")
        assert shape.counts.names == ("bin", "list", "st", "a.b")

    def test_gives_no_bounds_to_columns_without_an_order(self) -> None:
        shape = statistics_shape(SCHEMA)

        assert {"bin", "list", "v"}.isdisjoint(shape.bounds.names)
        assert {"bin", "list", "v"} <= set(shape.counts.names)

    def test_of_no_column_bears_broken_rows(self) -> None:
        rows = parsed("broken", '{"numRecords":7,"minValues":{"i":1}}', columns=[])

        assert [row["num_records"] for row in rows] == [None, 7]

    def test_of_no_column_has_the_number_of_records(self) -> None:
        assert parsed('{"numRecords":7}', columns=[])[0]["num_records"] == 7

    def test_names_a_column_that_is_none(self) -> None:
        with pytest.raises(ColumnNotFoundError, match="'zz'"):
            parsed("{}", columns=["zz"])
