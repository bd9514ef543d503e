"""Which files a list asks for."""

import re
from dataclasses import dataclass

from django.http import QueryDict

from apps.explorer.version.query import (
    MAX_INT64,
    parse_page,
    partitions_of,
    text_of,
)
from apps.pages.request.parameters import QueryError

_SIZE = re.compile(r"(\d{1,19})(?:\.(\d{1,6}))?\s*([kmgtp]?)(?:i?b)?", re.IGNORECASE)


_UNIT_BYTES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFilter:
    """Which files a file list shows, in which order, and which page of them.

    `partitions` are pairs of column and value as the log writes it, None for null.
    """

    partitions: tuple[tuple[str, str | None], ...] = ()
    min_size_bytes: int | None = None
    max_size_bytes: int | None = None
    has_stats: bool | None = None  # whether the file tells its rows; None is either
    has_vector: bool | None = None  # whether a vector hides rows of it
    sort: str = "-size"
    page: int = 1

    @property
    def is_empty(self) -> bool:
        limits = (
            self.min_size_bytes,
            self.max_size_bytes,
            self.has_stats,
            self.has_vector,
        )
        return not self.partitions and all(limit is None for limit in limits)


def parse_file_filter(query: QueryDict) -> FileFilter:
    """Read `partition` (repeatable), `min`, `max`, `stats`, `dv`, `sort`, `page`."""
    return FileFilter(
        partitions=partitions_of(query),
        min_size_bytes=_size_bytes(query, "min"),
        max_size_bytes=_size_bytes(query, "max"),
        has_stats=_yes_or_no(query, "stats"),
        has_vector=_yes_or_no(query, "dv"),
        sort=text_of(query, "sort") or "-size",
        page=parse_page(query),
    )


def _yes_or_no(query: QueryDict, name: str) -> bool | None:
    text = text_of(query, name)
    if text not in {"", "yes", "no"}:
        raise QueryError(part=name, expected="yes or no")
    return None if not text else text == "yes"


def _size_bytes(query: QueryDict, name: str) -> int | None:
    text = text_of(query, name).strip()
    if not text:
        return None
    match = _SIZE.fullmatch(text)
    if match is None:
        raise QueryError(part=name, expected="a size such as 65536 or 1.5 MiB")
    whole, fraction, unit = match.groups()
    scale = _UNIT_BYTES[unit.lower()]
    size_bytes = int(whole) * scale
    if fraction:
        size_bytes += int(fraction) * scale // 10 ** len(fraction)
    return min(size_bytes, MAX_INT64)
