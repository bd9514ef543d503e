"""What all files of a version really hold, from the sums that a job has left."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import pyarrow as pa

from apps.pages.figures import percent
from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import Named, OnPage, Spread
from apps.tables.versions.survey.costs import Cost, Row, costs_of
from deltaweb.parquet.inspection.differences import (
    LEGACY,
    MISSING,
    REFUSED,
    UNKNOWN,
    WIDENED,
    SurveyedColumn,
    table_path,
    words_by_path,
)

COLUMNS_A_PAGE: Final = 12
MAX_SHOWN: Final = 50
SMALL_GROUP_BYTES: Final = 8 << 20
_SHOWN: Final = ("name", "detail", "files", "bytes", "rows", "count", "example")
_READERS: Final = {
    MISSING: "NULL in every row",
    WIDENED: "the same values, widened",
    LEGACY: "the same instants; ranges of row groups are ignored",
    UNKNOWN: "nothing: readers ignore it",
    REFUSED: "an error: Delta has no such type",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A name, and the files that have it.

    Attributes:
        row: That of `SURVEY_SCHEMA`, with its percent of the bytes of all names.
        begin: The percent of those before.
        of_largest: Of the bytes of the largest name, in percent.
    """

    row: Spread[Row]
    begin: OnPage[float]
    of_largest: OnPage[float]

    @property
    def program(self) -> str:
        """The first words of what a writer says of itself."""
        name, _, rest = self.row["name"].partition(" version ")
        version = rest.partition(" ")[0]
        return f"{name} {version}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlikeColumn:
    """A column, or a part of one, that is otherwise in some files than in the table."""

    row: Spread[Row]

    @property
    def readers_get(self) -> str:
        """What readers make of it."""
        return _READERS.get(self.row["relation"], "converted values, or an error")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSizes:
    """How many row groups have which size.

    Attributes:
        edges: The n + 1 edges of the bins in bytes, powers of two.
        counts: The number of row groups in each of the n bins.
        num_small: The number of row groups below the size that counts as small.
    """

    edges: tuple[int, ...]
    counts: tuple[int, ...]
    num_small: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPage:
    """Some columns by their bytes over the whole table, the largest first."""

    columns: list[Share]
    paged: Spread[Paged]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInside:
    """What all files of a version hold.

    Attributes:
        writers, codecs, encodings: Each with its files and bytes.
        unlike: Columns that are otherwise in files than in the table.
        mixed: Leaf columns that files store in more than one way: (stored type, files).
        unreadable: Errors of files whose footers do not read.
        is_complete: Whether all different names are listed.
    """

    num_files: Annotated[int, Named("files")]
    size_bytes: Annotated[int, Named("bytes")]
    num_rows: Annotated[int, Named("rows")]
    num_row_groups: Annotated[int, Named("row_groups")]
    footer_bytes: int
    writers: list[Share]
    codecs: list[Share]
    encodings: list[Share]
    group_sizes: GroupSizes
    unlike: Annotated[list[UnlikeColumn], Named("differences")]
    mixed: Annotated[list[Row], Named("stored_in_several_ways")]
    unreadable: list[Share]
    by_bytes: Annotated[ColumnPage, Named("columns")]
    costs: OnPage[list[Cost]]
    is_complete: bool

    @property
    def data_bytes(self) -> int:
        """What the columns take: the bytes that codecs and encodings are shares of."""
        return sum(one.row["bytes"] for one in self.codecs)

    @property
    def other_bytes(self) -> int:
        """What the files hold beside their columns: footers, indexes, checksums."""
        return max(self.size_bytes - self.data_bytes, 0)

    @property
    def num_unlike_columns(self) -> int:
        return len({one.row["column"] for one in self.unlike})

    @property
    def shown_unlike(self) -> list[UnlikeColumn]:
        return self.unlike[:MAX_SHOWN]

    @property
    def shown_writers(self) -> list[Share]:
        return self.writers[:MAX_SHOWN]


def table_inside(
    table: Sequence[SurveyedColumn],
    sums: pa.Table,
    page: int = 1,
    *,
    length: int = COLUMNS_A_PAGE,
) -> TableInside:
    """Return what a page shows of the files of a version.

    Args:
        table: The columns of the version; none if unknown.
        sums: `SURVEY_SCHEMA`.
    """
    kinds = _by_kind(sums)
    for row in (*kinds["column"], *kinds["type"]):
        row["name"] = table_path(table, row["name"])
    whole = next(iter(kinds["file"]), {})
    unreadable = _shares(kinds["unreadable"])
    columns = _shares(kinds["column"])
    unlike = list(_unlike(kinds["difference"], words_by_path(table)))
    place = paged(len(columns), page, length=length)
    num_files = whole.get("files", 0) + sum(one.row["files"] for one in unreadable)
    footer_bytes = whole.get("extra_bytes", 0)
    return TableInside(
        num_files=num_files,
        size_bytes=whole.get("bytes", 0),
        num_rows=whole.get("rows", 0),
        num_row_groups=whole.get("count", 0),
        footer_bytes=footer_bytes,
        writers=_shares(kinds["writer"]),
        codecs=_shares(kinds["codec"]),
        encodings=_shares(kinds["encoding"]),
        group_sizes=_group_sizes(kinds["group_size"]),
        unlike=unlike,
        mixed=list(_mixed(kinds["type"]))[:MAX_SHOWN],
        unreadable=unreadable,
        by_bytes=ColumnPage(columns=columns[place.rows], paged=place),
        costs=costs_of(
            num_files,
            footer_bytes,
            [one.row for one in columns],
            [one.row for one in unlike],
            [one.row for one in unreadable],
        ),
        is_complete=not kinds["more"],
    )


def difference_lines(found: TableInside) -> Iterator[list[object]]:
    """Yield the header and every difference, as the CSV form shows them."""
    names = ["column", "table_type", "file_type", "relation", "files", "bytes"]
    names += ["example", "column_bytes"]
    yield [{"table_type": "in_table", "file_type": "in_files"}.get(n, n) for n in names]
    for one in found.unlike:
        yield [one.row[name] for name in names]


def _by_kind(sums: pa.Table) -> Mapping[str, list[Row]]:
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in sums.to_pylist():
        kinds[row["kind"]].append(row)
    return kinds


def _shares(rows: Sequence[Row]) -> list[Share]:
    """Return sums as shares of the whole, the most bytes first."""
    total = sum(row["bytes"] for row in rows)
    largest = max((row["bytes"] for row in rows), default=0)
    ordered = sorted(rows, key=lambda row: (-row["bytes"], -row["files"], row["name"]))
    begin, shares = 0, []
    for row in ordered:
        shown = {name: row[name] for name in _SHOWN}
        shown |= {"detail": row["detail"] or None, "example": row["example"] or ""}
        shares.append(
            Share(
                row={**shown, "percent": percent(row["bytes"], total)},
                begin=percent(begin, total),
                of_largest=percent(row["bytes"], largest),
            )
        )
        begin += row["bytes"]
    return shares


def _group_sizes(rows: Sequence[Row]) -> GroupSizes:
    counts = {int(row["name"]): row["count"] for row in rows}
    if not counts:
        return GroupSizes(edges=(), counts=(), num_small=0)
    first, last = min(counts).bit_length() - 1, max(counts).bit_length() - 1
    powers = range(first, last + 1)
    return GroupSizes(
        edges=tuple(1 << power for power in (*powers, last + 1)),
        counts=tuple(counts.get(1 << power, 0) for power in powers),
        num_small=sum(n for size, n in counts.items() if size < SMALL_GROUP_BYTES),
    )


def _unlike(rows: Sequence[Row], words: Mapping[str, str]) -> Iterator[UnlikeColumn]:
    for row in sorted(rows, key=lambda row: (-row["bytes"], row["name"])):
        relation = row["relation"]
        yield UnlikeColumn(
            row={
                "column": row["name"],
                "relation": relation,
                "table_type": None if relation == UNKNOWN else words.get(row["name"]),
                "file_type": row["detail"] or None,
                "files": row["files"],
                "bytes": row["bytes"],
                "column_bytes": row["extra_bytes"],
                "example": row["example"] or "",
            }
        )


def _mixed(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the columns that files store in more than one way."""
    ways: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        ways[row["name"]].append(row)
    for name, found in sorted(ways.items()):
        if len(found) > 1:
            found.sort(key=lambda row: -row["files"])
            stored = [(row["detail"], row["files"]) for row in found]
            yield {"column": name, "ways": stored}
