"""Bitmaps of every kind hold the sets that they were made of."""

import random
import struct
from contextlib import suppress

import numpy as np
import pytest

from deltaweb.delta.deletion_vectors.deleted_rows import DeletedRows
from deltaweb.delta.deletion_vectors.errors import MalformedVectorError
from deltaweb.delta.deletion_vectors.roaring import read_bitmap
from tests.support.logs.roaring_bitmaps import bitmap_of

NUM_ROWS = 200_000


def drawn_set(draw: random.Random) -> set[int]:
    """A set whose containers are empty, sparse, dense, full, or runs."""
    found: set[int] = set()
    for first in range(0, NUM_ROWS, 1 << 16):
        rows = range(first, min(first + (1 << 16), NUM_ROWS))
        match draw.randrange(5):
            case 0:
                found.update(draw.sample(rows, draw.randint(1, 30)))
            case 1:
                found.update(
                    draw.sample(rows, min(len(rows), 4_090 + draw.randrange(12)))
                )
            case 2:
                found.update(draw.sample(rows, len(rows) // 2))
            case 3:
                found.update(rows)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_drawn_set_comes_back_whatever_holds_it(seed: int) -> None:
    draw = random.Random(seed)
    expected = drawn_set(draw)
    runs = draw.sample(range(8), draw.randint(0, 8))
    data = bitmap_of(expected, is_native=bool(seed % 2), runs=runs)

    rows = DeletedRows(read_bitmap(data))

    positions = np.concatenate([np.empty(0, np.int64), *rows.positions()])
    assert set(positions.tolist()) == expected
    assert len(rows) == len(expected)
    for _ in range(4):
        first = draw.randrange(NUM_ROWS)
        count = draw.choice([1, 100, 65_536, 70_000, NUM_ROWS])
        marks = rows.marks(first, count)
        found = set() if marks is None else {*(np.flatnonzero(marks) + first).tolist()}
        assert found == {row for row in expected if first <= row < first + count}


def test_positions_beyond_32_bits_have_bitmaps_of_their_own() -> None:
    expected = [1, 2**32 - 1, 2**32, 5 * 2**32 + 7]

    for is_native in (False, True):
        rows = DeletedRows(read_bitmap(bitmap_of(expected, is_native=is_native)))

        assert np.concatenate([*rows.positions()]).tolist() == expected
        assert rows.marks(2**32 - 2, 4).tolist() == [False, True, True, False]  # type: ignore[union-attr] # some are marked


def test_an_empty_vector_deletes_nothing() -> None:
    rows = DeletedRows(read_bitmap(bitmap_of([])))

    assert len(rows) == 0
    assert rows.marks(0, 1_000) is None
    rows.check_within(0)


@pytest.mark.parametrize("seed", range(30))
def test_damaged_bytes_end_as_a_sentence(seed: int) -> None:
    draw = random.Random(seed)
    data = bytearray(
        bitmap_of(
            [*range(5_000), 70_000, *range(200_000, 201_000), 300_000],
            runs=[0] if seed % 2 else [],
        )
    )
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(60) if seed % 3 else draw.randrange(len(data))
        data[place] = draw.randrange(256)
    if seed % 5 == 0:
        del data[draw.randrange(len(data)) :]

    # Whatever else is raised would be a fault of ours.
    with suppress(MalformedVectorError):
        rows = DeletedRows(read_bitmap(bytes(data)))
        rows.check_within(1 << 40)
        found = np.concatenate([np.empty(0, np.int64), *rows.positions()])
        assert len(found) == len(rows)


@pytest.mark.parametrize("keys", [(0, 0), (3, 3), (1, 0)])
def test_each_bitmap_has_a_larger_key_than_the_one_before(keys: tuple[int, int]):
    bitmap = bitmap_of([5])[16:]
    parts = [struct.pack("<I", key) + bitmap for key in keys]
    data = struct.pack("<IQ", 1681511377, len(parts)) + b"".join(parts)

    with pytest.raises(MalformedVectorError, match="not in order"):
        read_bitmap(data)
