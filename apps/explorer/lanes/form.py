"""Which lanes the address asks for."""

from dataclasses import dataclass

from django.http import QueryDict

from deltaweb.web.explorer.version.query import (
    QueryError,
    parse_page,
    parse_search,
    text_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneFilter:
    """Which lanes a page shows: `text` is in a name that a field has or had."""

    text: str = ""
    is_changed: bool = False
    page: int = 1

    @property
    def is_empty(self) -> bool:
        return not self.text and not self.is_changed


def parse_lane_filter(query: QueryDict) -> LaneFilter:
    """Read `q`, `only` and `page`."""
    only = text_of(query, "only")
    if only not in {"", "changed"}:
        raise QueryError(part="only", expected="changed")
    return LaneFilter(
        text=parse_search(query), is_changed=bool(only), page=parse_page(query)
    )
