"""Which partitions a list asks for."""

from dataclasses import dataclass

from django.http import QueryDict

from deltaweb.web.explorer.version.query import (
    parse_page,
    parse_search,
    partitions_of,
    text_of,
)


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
        return not self.partitions and not self.text


def parse_partition_filter(query: QueryDict) -> PartitionFilter:
    """Read `partition` (repeatable), `q`, `sort` and `page`."""
    return PartitionFilter(
        partitions=partitions_of(query),
        text=parse_search(query),
        sort=text_of(query, "sort") or "-bytes",
        page=parse_page(query),
    )
