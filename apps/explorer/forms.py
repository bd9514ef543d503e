"""The query strings of the pages: their shape alone, never the database.

Each `parse_` function returns a frozen value, or raises a `QueryError`, which says
what part of the address cannot be read.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from django import forms
from django.http import QueryDict

from apps.pages.days import EXAMPLE, parse_day
from apps.pages.errors import PageError

MAX_INT64 = 2**63 - 1
MAX_PAGE = 100_000
MAX_FILTERS = 20
MAX_TEXT_LENGTH = 500
_SIZE = re.compile(r"(\d{1,19})(?:\.(\d{1,6}))?\s*([kmgtp]?)(?:i?b)?", re.IGNORECASE)
_UNIT_BYTES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}


class QueryError(PageError):
    """A part of the address that cannot be read; `expected` says what could.

    What the part is about, where that is known, is said by `message` and `hint`.
    """

    def __init__(
        self, *, part: str, expected: str, message: str = "", hint: str = ""
    ) -> None:
        super().__init__(
            status=400,
            code="bad-query",
            message=message or f"The address asks for a {part!r} that cannot be read.",
            hint=hint or f"Give {expected}, or leave {part!r} out.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFilter:
    """Which commits a history page shows; `before` is where the page starts."""

    operations: tuple[str, ...] = ()
    user_name: str = ""
    first_day: date | None = None
    last_day: date | None = None
    text: str = ""
    before: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether every commit passes."""
        return not (self.chooses_commits or self.first_day or self.last_day)

    @property
    def chooses_commits(self) -> bool:
        """Whether commits of one day may differ in passing."""
        return bool(self.operations or self.user_name or self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFilter:
    """Which files a file list shows, in which order, and which page of them.

    `partitions` are pairs of column and value as the log writes it, None for null.
    """

    partitions: tuple[tuple[str, str | None], ...] = ()
    min_size_bytes: int | None = None
    max_size_bytes: int | None = None
    has_stats: bool | None = None  # whether the file tells its rows; None is either
    sort: str = "-size"
    page: int = 1

    @property
    def is_empty(self) -> bool:
        """Whether every file passes."""
        limits = (self.min_size_bytes, self.max_size_bytes, self.has_stats)
        return not self.partitions and all(limit is None for limit in limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFilter:
    """Which partitions a list shows, in which order, and which page of them.

    `partitions` are pairs of column and value as the log writes it, None for null.
    """

    partitions: tuple[tuple[str, str | None], ...] = ()
    text: str = ""
    sort: str = "-bytes"
    page: int = 1

    @property
    def is_empty(self) -> bool:
        """Whether every partition passes."""
        return not self.partitions and not self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """Which rows and columns a preview shows, before the schema has been asked."""

    columns: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()  # as in the address: column:operator:value
    sort: str = ""
    page: int = 1
    column_page: int = 1


class _HistoryForm(forms.Form):
    user = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)
    q = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)
    before = forms.IntegerField(required=False, min_value=0, max_value=MAX_INT64)


class _SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)


class _FindForm(forms.Form):
    find = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)


class _TextForm(forms.Form):
    text = forms.CharField(required=False, strip=False, max_length=4000)


class _PageForm(forms.Form):
    page = forms.IntegerField(required=False, min_value=1, max_value=MAX_PAGE)
    cols = forms.IntegerField(required=False, min_value=1, max_value=MAX_PAGE)


def parse_search(query: QueryDict) -> str:
    """Return the text of a filter box."""
    return str(_clean(_SearchForm(query))["q"])


def parse_page(query: QueryDict) -> int:
    """Return the number of the page asked for, from 1."""
    return int(_clean(_PageForm(query))["page"] or 1)


def parse_column_page(query: QueryDict) -> int:
    """Return the number of the page of columns asked for, from 1."""
    return int(_clean(_PageForm(query))["cols"] or 1)


def parse_choice_text(query: QueryDict) -> str:
    """Return what the chooser of columns looks for."""
    return str(_clean(_FindForm(query))["find"])


def parse_history_filter(query: QueryDict) -> HistoryFilter:
    """Read `op` (repeatable), `user`, `from`, `to`, `q` and `before`."""
    cleaned = _clean(_HistoryForm(query))
    return HistoryFilter(
        operations=tuple(dict.fromkeys(_texts(query, "op"))),
        user_name=cleaned["user"],
        first_day=_day(query, "from"),
        last_day=_day(query, "to"),
        text=cleaned["q"],
        before=cleaned["before"],
    )


def parse_file_filter(query: QueryDict) -> FileFilter:
    """Read `partition` (repeatable), `min`, `max`, `stats`, `sort` and `page`."""
    return FileFilter(
        partitions=_partitions(query),
        min_size_bytes=_size_bytes(query, "min"),
        max_size_bytes=_size_bytes(query, "max"),
        has_stats=_yes_or_no(query, "stats"),
        sort=_text(query, "sort") or "-size",
        page=parse_page(query),
    )


def parse_partition_filter(query: QueryDict) -> PartitionFilter:
    """Read `partition` (repeatable), `q`, `sort` and `page`."""
    return PartitionFilter(
        partitions=_partitions(query),
        text=parse_search(query),
        sort=_text(query, "sort") or "-bytes",
        page=parse_page(query),
    )


def parse_row_query(query: QueryDict) -> RowQuery:
    """Read `col` and `f` (both repeatable), `sort`, `page` and `cols`."""
    return RowQuery(
        columns=tuple(dict.fromkeys(_texts(query, "col", limit=2000))),
        filters=tuple(dict.fromkeys(_texts(query, "f"))),
        sort=_text(query, "sort"),
        page=parse_page(query),
        column_page=parse_column_page(query),
    )


def _partitions(query: QueryDict) -> tuple[tuple[str, str | None], ...]:
    pairs = []
    for text in _texts(query, "partition"):
        column, equals, value = text.partition("=")
        pairs.append((column, value if equals else None))
    return tuple(dict.fromkeys(pairs))


def _clean(form: forms.Form) -> dict[str, Any]:
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        raise QueryError(
            part=str(name), expected=f"another value: {errors[0]}".rstrip(".")
        )
    return dict(form.cleaned_data)


def _texts(query: QueryDict, name: str, *, limit: int = MAX_FILTERS) -> list[str]:
    values = [value for value in query.getlist(name) if value]
    if len(values) > limit:
        raise QueryError(part=name, expected=f"at most {limit} of them")
    for value in values:
        if not _TextForm({"text": value}).is_valid():
            raise QueryError(
                part=name, expected="a shorter text of printable characters"
            )
    return values


def _text(query: QueryDict, name: str) -> str:
    values = _texts(query, name)
    return values[-1] if values else ""


def _yes_or_no(query: QueryDict, name: str) -> bool | None:
    text = _text(query, name)
    if text not in {"", "yes", "no"}:
        raise QueryError(part=name, expected="yes or no")
    return None if not text else text == "yes"


def _day(query: QueryDict, name: str) -> date | None:
    text = _text(query, name).strip()
    if not text:
        return None
    try:
        return parse_day(text)
    except ValueError:
        expected = f"a day such as 2026-11-20 or {EXAMPLE}"
        raise QueryError(part=name, expected=expected) from None


def _size_bytes(query: QueryDict, name: str) -> int | None:
    text = _text(query, name).strip()
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
