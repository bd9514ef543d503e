"""Rows of files with deletion vectors: told by position, whatever else is asked."""

import random
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.deletion_vectors.errors import DeletionVectorError
from deltaweb.delta.scan.predicate import Comparison
from tests.support.logs.roaring_bitmaps import inline_vector
from tests.support.tables.row_tables import LONG, STRING, Table, schema_of

NUM_ROWS = 1_000


def table_of(folder: Path, deleted: set[int], *, row_group_size: int = 100) -> Table:
    table = Table(folder, schema_of(n=LONG, text=STRING), ())
    rows = pa.table(
        {"n": range(NUM_ROWS), "text": [str(n % 7) for n in range(NUM_ROWS)]}
    )
    table.add(rows, vector=inline_vector(deleted), row_group_size=row_group_size)
    return table


@pytest.mark.parametrize("seed", range(8))
def test_the_rows_that_are_not_deleted_are_read(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    deleted = set(draw.sample(range(NUM_ROWS), draw.choice([1, 30, 500, 999, 1_000])))
    table = table_of(tmp_path, deleted, row_group_size=draw.choice([7, 100, 5_000]))
    live = [n for n in range(NUM_ROWS) if n not in deleted]

    assert [row["n"] for row in table.read()] == live
    assert [row["n"] for row in table.read(columns=["n"], limit=5)] == live[:5]
    first = draw.randrange(NUM_ROWS)
    beyond = Comparison(("n",), ">=", pa.scalar(first))
    assert [row["n"] for row in table.read(predicate=beyond)] == [
        n for n in live if n >= first
    ]


def test_columns_that_the_file_lacks_have_its_live_rows(tmp_path: Path) -> None:
    table = Table(tmp_path, schema_of(n=LONG, new=STRING))
    table.add(pa.table({"n": [1, 2, 3]}), vector=inline_vector([1]))

    assert table.read(columns=["new"]) == [{"new": None}] * 2
    assert table.read(columns=["n"]) == [{"n": 1}, {"n": 3}]


def test_only_the_file_of_a_vector_has_rows_deleted(tmp_path: Path) -> None:
    table = Table(tmp_path, schema_of(n=LONG))
    table.add(pa.table({"n": [1, 2]}))
    table.add(pa.table({"n": [3, 4]}), vector=inline_vector([0]))
    table.add(pa.table({"n": [5, 6]}))

    assert [row["n"] for row in table.read()] == [1, 2, 4, 5, 6]


def test_a_limit_counts_live_rows_alone(tmp_path: Path) -> None:
    table = Table(tmp_path, schema_of(n=LONG))
    table.add(pa.table({"n": [1, 2]}), vector=inline_vector([0, 1]))
    table.add(pa.table({"n": [3, 4]}))
    scan = table.scan(limit=1)

    assert [row["n"] for batch in scan for row in batch.to_pylist()] == [3]
    assert scan.files_scanned == 2


def test_a_vector_that_contradicts_itself_names_the_file(tmp_path: Path) -> None:
    table = Table(tmp_path, schema_of(n=LONG))
    vector = inline_vector([0]) | {"cardinality": 2}
    path = table.add(pa.table({"n": [1, 2]}), vector=vector)

    with pytest.raises(DeletionVectorError, match=path):
        table.read()
