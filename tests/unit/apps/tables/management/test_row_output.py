from collections.abc import Callable

import pyarrow as pa
import pytest

from apps.tables.management.row_output import csv_lines, json_rows, row_lines


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda rows: "\n".join(row_lines(rows)), id="a table"),
        pytest.param(lambda rows: "\n".join(csv_lines(rows)), id="CSV"),
        pytest.param(lambda rows: str(json_rows(rows)), id="JSON"),
    ],
)
def test_times_beyond_what_python_holds_are_written_as_text(
    write: Callable[[pa.Table], str],
) -> None:
    times = pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32())

    text = write(pa.table({"day": times}))

    assert "2147483647" in text
    assert "1970-01-01" in text
