"""Vectors that are written are read as they were meant, in the smallest form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.deletion_vectors.deleted_rows import DeletedRows
from deltaweb.delta.deletion_vectors.places import paths_of_ids
from deltaweb.delta.deletion_vectors.reading import read_deleted_rows
from deltaweb.delta.deletion_vectors.roaring import Flags, read_bitmap
from deltaweb.delta.deletion_vectors.writing import VectorFileWriter, write_bitmap
from tests.support.logs.roaring_bitmaps import fields_of
from tests.support.stores.memory import MemoryTableStore

ROWS = 1 << 16


def marks_of(num_rows: int, *places: slice) -> Flags:
    marks = np.zeros(num_rows, np.bool_)
    for place in places:
        marks[place] = True
    return marks


def read_back(data: bytes) -> list[int]:
    found = DeletedRows(read_bitmap(data)).positions()
    return [row for some in found for row in some.tolist()]


@given(st.sets(st.integers(0, 5 * ROWS - 1), max_size=60), st.integers(0, 4))
def test_any_set_is_read_back(rows: set[int], run: int) -> None:
    marks = marks_of(5 * ROWS, slice(run * ROWS + 7, run * ROWS + 90))
    marks[sorted(rows)] = True

    assert read_back(write_bitmap(marks)) == np.flatnonzero(marks).tolist()


@pytest.mark.parametrize(
    ("place", "most_bytes"),
    [
        (slice(0, 4 * ROWS), 80),
        (slice(0, 2 * ROWS, 2), 2 * 8_192 + 80),
        (slice(5, 5 * ROWS, 1_000), 800),
        (slice(0, 0), 12),
        (slice(3 * ROWS - 1, 3 * ROWS + 1), 48),
    ],
    ids=["runs", "bits", "positions", "nothing", "a border"],
)
def test_sets_of_a_kind_take_little(place: slice, most_bytes: int) -> None:
    marks = marks_of(5 * ROWS, place)

    data = write_bitmap(marks)

    assert read_back(data) == np.flatnonzero(marks).tolist()
    assert len(data) <= most_bytes


def test_many_of_them_share_a_file() -> None:
    store = MemoryTableStore()
    writer = VectorFileWriter(store)
    sets = [marks_of(100, slice(n, n + 3)) for n in range(4)]
    vectors = [writer.add(marks) for marks in sets]
    writer.finish()

    assert len(writer.paths) == 1
    for marks, vector in zip(sets, vectors, strict=True):
        rows = read_deleted_rows("f", fields_of(vector), 100, store.open_data_file)
        found = rows.marks(0, 100)
        assert found is not None
        assert found.tolist() == marks.tolist()
        text = f"u{vector['pathOrInlineDv']}@{vector['offset']}"
        assert writer.paths[0] in paths_of_ids([text, "i0000", "ux"])
