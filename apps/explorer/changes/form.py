"""Which changes the address asks for."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from django.http import QueryDict

from apps.explorer.version.query import (
    MAX_INT64,
    parse_page,
    text_of,
    texts_of,
)
from apps.pages.request.parameters import QueryError
from deltaweb.delta.feed.digest import KINDS

EVERY_COLUMN: Final = "all"
NO_KEY: Final = "-"  # in the place of key columns: an empty part is as good as none
_END_EXAMPLE: Final = "a version, or a time such as 2026-11-21 08:30"

End = int | datetime | None
"""An end of a range: a version, a time, or what the page chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeQuery:
    """Which changes a page shows, before the table has been asked.

    Attributes:
        first, last: The ends of the range, both included.
        kinds: Of "insert", "update", "delete".
        key: The key columns as the address has them; None for those suggested.
        value: What the first key column is to be, or "".
        changed: A column that updates are to have changed, or "".
        shows_all: Whether columns are shown that no update changed.
    """

    first: End = None
    last: End = None
    kinds: tuple[str, ...] = KINDS
    key: str | None = None
    value: str = ""
    changed: str = ""
    shows_all: bool = False
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        """Whether some changes of the range are left out."""
        return bool(self.value or self.changed) or self.kinds != KINDS


def parse_change_query(query: QueryDict, zone: tzinfo) -> ChangeQuery:
    """Read `from`, `to`, `kind`, `by`, `is`, `changed`, `columns` and `page`."""
    kinds = texts_of(query, "kind")
    if not set(kinds) <= set(KINDS):
        raise QueryError(part="kind", expected=f"some of {', '.join(KINDS)}")
    columns = text_of(query, "columns")
    if columns not in {"", EVERY_COLUMN}:
        raise QueryError(part="columns", expected=EVERY_COLUMN)
    return ChangeQuery(
        first=_end(query, "from", zone),
        last=_end(query, "to", zone),
        kinds=tuple(kind for kind in KINDS if kind in kinds) or KINDS,
        key=text_of(query, "by") or None,
        value=text_of(query, "is"),
        changed=text_of(query, "changed"),
        shows_all=bool(columns),
        page=parse_page(query),
    )


def _end(query: QueryDict, name: str, zone: tzinfo) -> End:
    text = text_of(query, name).strip().removeprefix("v")
    if not text:
        return None
    if text.isascii() and text.isdigit():
        version = int(text[:20])
        if version <= MAX_INT64:
            return version
        raise QueryError(part=name, expected=_END_EXAMPLE)
    try:
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=zone)
    except ValueError:
        raise QueryError(part=name, expected=_END_EXAMPLE) from None
