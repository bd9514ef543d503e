from datetime import UTC, datetime

import pyarrow as pa

from deltaweb.delta.python_values import python_values

YEAR_36812_S = 2**40


def test_dates_beyond_what_python_holds_are_text() -> None:
    column = pa.chunked_array(
        [pa.array([YEAR_36812_S, 0], pa.int64()).cast(pa.timestamp("s"))]
    )

    values = python_values(column)

    assert isinstance(values[0], str)
    assert values[1] == datetime(1970, 1, 1)  # noqa: DTZ001 (timestamp_ntz)


def test_lists_of_such_times_say_so_and_spare_the_others() -> None:
    kind = pa.list_(pa.timestamp("us", "UTC"))
    column = pa.array([[2**62], [0]], pa.list_(pa.int64())).cast(kind)

    values = python_values(column)

    assert values == [
        "not a time that can be shown",
        [datetime(1970, 1, 1, tzinfo=UTC)],
    ]
