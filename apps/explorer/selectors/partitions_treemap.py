"""Partitions as tiles: the area says the bytes, the shade how large the files are.

Tiles are laid out by the squarified treemap of Bruls, Huizing and van Wijk (2000): a
row of tiles is filled as long as that makes its tiles more square.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.selectors.partitions import Partition, partitions_of

MAX_TILES: Final = 120
HEIGHT: Final = 300.0  # px
ASPECT_WIDTH: Final = 640.0  # px that a width of 100 % is taken for
TEXT_HEIGHT: Final = 34.0  # px of a tile with text, at least
LETTER_WIDTH, TEXT_MARGIN = 6.6, 12.0  # px
CUT_FROM: Final = 16  # letters: a text that is cut shorter tells nothing
SHADES: Final = (0.25, 1.0)  # of the target size: small, below it, at it


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

    def fitted(self, text: str) -> str:
        """Return a text as far as the tile has room for it, or nothing."""
        if len(text) <= self.num_letters:
            return text
        return "" if self.num_letters < CUT_FROM else f"{text[: self.num_letters - 1]}…"


def squarify(sizes: Sequence[float], place: Rectangle) -> list[Rectangle]:
    """Lay out tiles of given sizes, largest first, in a rectangle.

    Args:
        sizes: Above 0, descending.
        place: The rectangle, which they fill.

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


def partition_tiles(
    totals: pa.Table, columns: Sequence[str], target_bytes: int | None
) -> list[Tile]:
    """Return the tiles of the largest partitions, and one of all others.

    Args:
        totals: By `partition_totals`, the largest first.
        columns: The partition columns.
        target_bytes: The size that files of the table aim at.
    """
    filled = totals.filter(pc.greater(totals["bytes"], 0))
    shown = list(partitions_of(filled.slice(0, MAX_TILES), columns, 0))
    others = filled.slice(MAX_TILES)
    sizes = [float(partition.size_bytes) for partition in shown]
    rest_bytes = pc.sum(others["bytes"]).as_py() or 0
    groups: list[tuple[Partition | None, int, int, int]] = [
        (partition, 1, partition.size_bytes, partition.average_bytes)
        for partition in shown
    ]
    if others.num_rows:
        # All the small ones together may be the largest tile: the order is kept.
        average = rest_bytes // max(pc.sum(others["files"]).as_py() or 1, 1)
        groups.append((None, others.num_rows, rest_bytes, average))
        sizes.append(float(rest_bytes))
    order = sorted(range(len(sizes)), key=lambda index: -sizes[index])
    place = Rectangle(x=0, y=0, width=ASPECT_WIDTH, height=HEIGHT)
    rectangles = squarify([sizes[index] for index in order], place)
    tiles = []
    for index, rectangle in zip(order, rectangles, strict=True):
        partition, count, size_bytes, average = groups[index]
        tiles.append(
            Tile(
                left=round(100 * rectangle.x / ASPECT_WIDTH, 3),
                top=round(rectangle.y, 2),
                width=round(100 * rectangle.width / ASPECT_WIDTH, 3),
                height=round(rectangle.height, 2),
                shade=_shade(average, target_bytes),
                partition=partition,
                num_partitions=count,
                size_bytes=size_bytes,
                num_letters=_letters(rectangle),
            )
        )
    return tiles


def _letters(place: Rectangle) -> int:
    """Return how many letters a tile has room for."""
    if place.height < TEXT_HEIGHT:
        return 0
    return max(int((place.width - TEXT_MARGIN) / LETTER_WIDTH), 0)


def _shade(average_bytes: int, target_bytes: int | None) -> str:
    if not target_bytes:
        return "at"
    share = average_bytes / target_bytes
    return "small" if share < SHADES[0] else "below" if share < SHADES[1] else "at"


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
