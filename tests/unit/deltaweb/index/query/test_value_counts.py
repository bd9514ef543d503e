"""How many rows match a condition and have each partition value, by the log."""

from pathlib import Path
from typing import Any

import pytest

from deltaweb.index.query.questions import Question
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.value_counts import (
    MatchingFiles,
    count_rows,
    count_values,
    matching_files,
)
from tests.support import cases
from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog, stats_of

VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
    "offset": 1,
    "sizeInBytes": 36,
    "cardinality": 2,
}


def file_of(path: str, p: int | None, low: int, high: int, **fields: Any):  # noqa: ANN401 (JSON)
    """A file of ten rows in a partition."""
    values = {"p": None if p is None else str(p)}
    stats = stats_of(10, {"id": low}, {"id": high})
    return add(path, partitionValues=values, stats=stats, **fields)


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    """Four files in three partitions; two rows of one are deleted."""
    return LocalLog(tmp_path).start(
        file_of("a", 1, 0, 9),
        file_of("b", 1, 10, 19),
        file_of("c", 2, 0, 9, deletionVector=VECTOR),
        file_of("d", None, 20, 29),
        partitionColumns=["p"],
    )


def found(log: LocalLog, sql: str = "") -> MatchingFiles:
    version = SharedTableReader().open_version(log.table, index_folder=None)
    question = Question(sql, version.schema, version.metadata) if sql else None
    return matching_files(question, version.live_parts())


def counts(log: LocalLog, files: MatchingFiles) -> dict[object, int | None]:
    version = SharedTableReader().open_version(log.table, index_folder=None)
    column = version.schema.find("p")
    assert column is not None
    table = count_values(files, column).values
    return dict(zip(table["value"].to_pylist(), table["rows"].to_pylist(), strict=True))


@cases(
    "sql, rows, is_exact",
    {
        "every row": ("", 38, True),
        "one partition": ("p = 1", 20, True),
        "no partition value": ("p IS NULL", 10, True),
        "a denial leaves out NULL": ("NOT (p = 1)", 8, True),
        "a function of a partition column": ("p + 1 = 3", 8, True),
        "a data column": ("id > 15", 20, False),
        "both": ("p = 1 AND id > 15", 10, False),
        "nothing": ("p = 7", 0, True),
    },
)
def test_rows_are_counted_exactly_for_partition_columns_alone(log, sql, rows, is_exact):
    files = found(log, sql)

    assert (count_rows(files), files.is_exact) == (rows, is_exact)


def test_values_come_with_their_live_rows_the_most_first(log: LocalLog):
    assert [*counts(log, found(log)).items()] == [(1, 20), (None, 10), (2, 8)]


def test_a_condition_leaves_out_values(log: LocalLog):
    assert counts(log, found(log, "id < 5")) == {1: 10, 2: 8}
    assert counts(log, found(log, "p = 9")) == {}


def test_a_file_that_does_not_say_its_rows_leaves_the_count_open(log: LocalLog):
    log.commit(1, add("e", partitionValues={"p": "2"}, size=1))

    files = found(log)

    assert count_rows(files) is None
    assert counts(log, files) == {1: 20, None: 10, 2: None}


def test_a_value_that_is_not_of_the_type_of_its_column_is_refused(log: LocalLog):
    log.commit(1, add("e", partitionValues={"p": "x"}, size=1))

    with pytest.raises(KeyError, match="p"):
        counts(log, found(log))
