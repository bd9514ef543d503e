"""Partitions as tiles: the area says the bytes, the shade how large the files are.

Only as many are drawn as can be told apart; the rest is a sentence beside the picture.

Tiles are laid out by the squarified treemap of Bruls, Huizing and van Wijk (2000): a
row of tiles is filled as long as that makes its tiles more square.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.partitions.selector import Partition, described

MAX_TILES: Final = 48
HEIGHT: Final = 300.0  # px
ASPECT_WIDTH: Final = 640.0  # px that a width of 100 % is taken for
NAME_HEIGHT: Final = 22.0  # px of a tile with its name, at least
TEXT_HEIGHT: Final = 38.0  # px of one with its size as well
LETTER_WIDTH, TEXT_MARGIN = 6.6, 12.0  # px
CUT_FROM: Final = 5  # letters: a text that is cut shorter tells nothing
SIZE_LETTERS: Final = 8  # of a size, such as 53.3 MiB
NUM_SHADES: Final = 4
OTHERS: Final = "others"
MAX_OTHERS_SHARE: Final = 0.2  # of the picture that all undrawn partitions may take
EVEN_RATIO: Final = 1.1  # of the largest average file to the smallest: all alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """A place in the picture, in px of a picture of `ASPECT_WIDTH`."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A partition in the picture; `partition` is None for all the smaller ones.

    `left` and `width` are percent of the picture, `top` and `height` px.
    """

    left: float
    top: float
    width: float
    height: float
    shade: str
    partition: Partition | None
    num_partitions: int
    size_bytes: int
    num_letters: int  # that there is room for
    has_room: bool  # for a second line

    def fitted(self, text: str) -> str:
        """Return a text as far as the tile has room for it, or nothing."""
        if len(text) <= self.num_letters:
            return text
        if self.num_letters < CUT_FROM:
            return ""
        # The end tells dates apart, and numbers.
        return f"…{text[len(text) - self.num_letters + 1 :]}"


def squarify(sizes: Sequence[float], place: Rectangle) -> list[Rectangle]:
    """Lay out tiles of given sizes, largest first, in a rectangle.

    Args:
        sizes: Above 0, descending.

    Returns:
        A rectangle a size, in their order.
    """
    whole = sum(sizes)
    if not whole:
        return []
    scale = place.width * place.height / whole
    areas = [size * scale for size in sizes]
    tiles: list[Rectangle] = []
    start = 0
    while start < len(areas):
        shorter = max(min(place.width, place.height), 1e-9)
        end = start + 1
        while end < len(areas) and _worst(areas[start : end + 1], shorter) <= _worst(
            areas[start:end], shorter
        ):
            end += 1
        row, place = _row(areas[start:end], place)
        tiles += row
        start = end
    return tiles


def partition_tiles(totals: pa.Table, columns: Sequence[str]) -> list[Tile]:
    """Return the tiles of the largest partitions, and one of all others if it is small.

    Args:
        totals: By `partition_totals`, the largest first.
    """
    filled = totals.filter(pc.greater(totals["bytes"], 0))
    shown = list(described(filled.slice(0, MAX_TILES), columns, 0))
    others = filled.slice(MAX_TILES)
    sizes = [float(partition.size_bytes) for partition in shown]
    rest_bytes = pc.sum(others["bytes"]).as_py() or 0
    groups: list[tuple[Partition | None, int, int, int]] = [
        (partition, 1, partition.size_bytes, partition.average_bytes)
        for partition in shown
    ]
    if 0 < rest_bytes <= MAX_OTHERS_SHARE * (rest_bytes + sum(sizes)):
        # All the small ones together may be the largest tile: the order is kept.
        average = rest_bytes // max(pc.sum(others["files"]).as_py() or 1, 1)
        groups.append((None, others.num_rows, rest_bytes, average))
        sizes.append(float(rest_bytes))
    order = sorted(range(len(sizes)), key=lambda index: -sizes[index])
    place = Rectangle(x=0, y=0, width=ASPECT_WIDTH, height=HEIGHT)
    rectangles = squarify([sizes[index] for index in order], place)
    shades = _shades([average for *_, average in groups])
    tiles = []
    for index, rectangle in zip(order, rectangles, strict=True):
        partition, count, size_bytes, _ = groups[index]
        tiles.append(
            Tile(
                left=round(100 * rectangle.x / ASPECT_WIDTH, 3),
                top=round(rectangle.y, 2),
                width=round(100 * rectangle.width / ASPECT_WIDTH, 3),
                height=round(rectangle.height, 2),
                shade=OTHERS if partition is None else shades[index],
                partition=partition,
                num_partitions=count,
                size_bytes=size_bytes,
                num_letters=_letters(rectangle),
                has_room=rectangle.height >= TEXT_HEIGHT
                and _letters(rectangle) >= SIZE_LETTERS,
            )
        )
    return tiles


def tiles_note(totals: pa.Table, tiles: Sequence[Tile]) -> str:
    """Say what the tiles show, and what is left out."""
    averages = [tile.partition.average_bytes for tile in tiles if tile.partition]
    low, high = min(averages, default=0), max(averages, default=0)
    is_even = high <= low * EVEN_RATIO
    shades = "" if is_even else ", darker: larger files"
    drawn = sum(tile.num_partitions for tile in tiles)
    if drawn == totals.num_rows:
        return f"the area is its bytes{shades}"
    return f"the {drawn:,} largest of {totals.num_rows:,}{shades}"


def _letters(place: Rectangle) -> int:
    """Return how many letters a tile has room for."""
    if place.height < NAME_HEIGHT:
        return 0
    return max(int((place.width - TEXT_MARGIN) / LETTER_WIDTH), 0)


def _shades(averages: Sequence[int]) -> list[str]:
    """Return a shade each, 1 for the smallest files; where all are alike, two in turn.

    Two that stand side by side are then told apart all the same.
    """
    low, high = min(averages, default=0), max(averages, default=0)
    if high <= low * EVEN_RATIO:
        return [str(2 + place % 2) for place in range(len(averages))]
    step = (high - low) / NUM_SHADES
    return [str(min(int((a - low) / step), NUM_SHADES - 1) + 1) for a in averages]


def _worst(areas: Sequence[float], side: float) -> float:
    """Return the largest ratio of the sides of tiles in a row along `side`."""
    total = sum(areas)
    return max(
        side * side * max(areas) / (total * total),
        total * total / (side * side * min(areas)),
    )


def _row(areas: Sequence[float], place: Rectangle) -> tuple[list[Rectangle], Rectangle]:
    """Lay out a row along the shorter side; return it and what is left.

    What is left of a place is rounded, so a row takes no more of it than there is.
    """
    total = sum(areas)
    tiles: list[Rectangle] = []
    if place.width >= place.height:
        width, y = total / place.height if place.height else 0.0, place.y
        width = min(width, place.width)
        for area in areas:
            height = area / total * place.height
            tiles.append(Rectangle(x=place.x, y=y, width=width, height=height))
            y += height
        rest = max(place.width - width, 0.0)
        return tiles, Rectangle(
            x=place.x + width, y=place.y, width=rest, height=place.height
        )
    height, x = total / place.width if place.width else 0.0, place.x
    height = min(height, place.height)
    for area in areas:
        width = area / total * place.width
        tiles.append(Rectangle(x=x, y=place.y, width=width, height=height))
        x += width
    rest = max(place.height - height, 0.0)
    return tiles, Rectangle(
        x=place.x, y=place.y + height, width=place.width, height=rest
    )
