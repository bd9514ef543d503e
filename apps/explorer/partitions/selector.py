"""The partitions of a version: what each holds, and how evenly that is spread.

Files are added up by Arrow, by the partition values that the log writes; of the
partitions only one page ever becomes Python objects.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.http import QueryDict

from apps.explorer.grid import are_long, cut_texts
from apps.explorer.version.listed import Kept, ListedFiles
from apps.explorer.version.query import (
    parse_page,
    parse_search,
    partitions_of,
    text_of,
)
from apps.pages.lists.days import moment_of
from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import As, Named, OnPage, Spread
from apps.pages.request.parameters import QueryError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.index.files.distribution import (
    partition_texts,
    summable,
    type_of,
    written_value,
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


CSV_CHUNK: Final = 5_000
MAX_KEPT: Final = 8  # versions whose totals a process keeps
LORENZ_POINTS: Final = 100
# Where the value of a sort key is.
SORT_COLUMNS: Final = {
    "bytes": "bytes",
    "files": "files",
    "rows": "rows",
    "average": "average",
    "modified": "modified",
}

Values = tuple[tuple[str, str | None], ...]
_kept: Kept[pa.Table] = Kept(MAX_KEPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition; None is what the log does not tell.

    Attributes:
        values: The value of each partition column, as deltaweb spells it; null is null.
        times_median: The size of the partition, as a multiple of the median.
        modified_at: The time when its newest file was written.
        is_cut: Whether one of the values is too long to be shown whole.
    """

    values: Annotated[Values, As(dict)]
    num_files: Annotated[int, Named("files")]
    size_bytes: Annotated[int, Named("bytes")]
    num_records: Annotated[int | None, Named("rows")]
    average_bytes: Annotated[int, Named("average_file_bytes")]
    times_median: float | None
    modified_at: datetime | None
    is_cut: OnPage[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """How evenly bytes are spread over partitions.

    Attributes:
        median_bytes: The one in the middle.
        gini: 0 where all are equal, towards 1 where one has it all.
        largest_share: What the largest hundredth, but one at least, has of all.
        num_in_share: How many partitions that is.
        lorenz: (share of partitions, share of bytes), smallest partitions first.
    """

    num_partitions: int
    largest_bytes: int
    median_bytes: int
    gini: float
    largest_share: float
    num_in_share: int
    lorenz: tuple[tuple[float, float], ...]

    @property
    def largest_to_median(self) -> float | None:
        if not self.median_bytes:
            return None
        return round(self.largest_bytes / self.median_bytes, 2)

    def describe(self) -> dict[str, object]:
        """Return the figures as the JSON form shows them."""
        return {
            "largest_bytes": self.largest_bytes,
            "median_bytes": self.median_bytes,
            "largest_to_median": self.largest_to_median,
            "gini": self.gini,
            "largest_percent_share": self.largest_share,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionPage:
    """Some partitions, and how many there are."""

    partitions: list[Partition] = field(default_factory=list)
    paged: Spread[Paged]
    num_partitions: int
    matching_bytes: int
    matching_files: OnPage[int]


def partition_totals(
    files: pa.Table, columns: Sequence[str], schema: StructType | None = None
) -> pa.Table:
    """Add up files by partition, whatever a writer's text for it.

    Args:
        files: `size`, `modification_time` (ms), `partition_values` and, where known,
            `num_records`.
        columns: The partition columns, one at least.
        schema: The table's columns; None where they are not known, and texts count.

    Returns:
        A row a partition, the largest first: `key_0`, `key_1`, ... (text, null for
        null), `files`, `bytes`, `rows` (null where a file does not tell), `average`
        (bytes of a file), `modified` (ms).
    """
    keys = [f"key_{index}" for index in range(len(columns))]
    values = [
        partition_texts(files["partition_values"], name, type_of(schema, name))
        for name in columns
    ]
    unknown = pa.chunked_array([pa.nulls(files.num_rows, pa.int64())])
    records = files["num_records"] if "num_records" in files.column_names else unknown
    rows = pa.table(
        [
            *values,
            summable(files["size"]),
            summable(records),
            files["modification_time"],
        ],
        names=[*keys, "size", "records", "time"],
    )
    # One thread: merging what several have grouped takes longer than it saves.
    groups = rows.group_by(keys, use_threads=False).aggregate(
        [
            ("size", "count", pc.CountOptions(mode="all")),
            ("size", "sum"),
            ("records", "sum"),
            ("records", "count", pc.CountOptions(mode="only_null")),
            ("time", "max"),
        ]
    )
    groups = groups.rename_columns(
        [*keys, "files", "bytes", "rows", "unknown", "modified"]
    )
    size_bytes = pc.fill_null(groups["bytes"], 0)
    row_counts = pc.if_else(pc.equal(groups["unknown"], 0), groups["rows"], None)
    whole = groups.select([*keys, "files", "modified"])
    whole = whole.append_column("bytes", size_bytes)
    whole = whole.append_column("rows", row_counts)
    whole = whole.append_column("average", pc.divide(size_bytes, groups["files"]))
    whole = _with_cut_keys(whole, keys)
    return whole.sort_by([("bytes", "descending"), *((k, "ascending") for k in keys)])


def _with_cut_keys(totals: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Cut the keys that no list shows, now that files of each are added up."""
    is_cut = pa.chunked_array([pa.repeat(pa.scalar(False), totals.num_rows)])  # noqa: FBT003 (a value)
    for place, key in enumerate(keys):
        is_cut = pc.or_(is_cut, are_long(totals[key]))
        totals = totals.set_column(place, key, cut_texts(totals[key]))
    if pc.any(is_cut).as_py():
        pa.default_memory_pool().release_unused()  # what the long keys took
    return totals.append_column("is_cut", is_cut)


def kept_totals(
    listed: ListedFiles, columns: Sequence[str], schema: StructType | None = None
) -> pa.Table:
    """Return `partition_totals` of a version, kept for the next page.

    Args:
        columns: The partition columns, one at least.
    """
    key = (listed.source, tuple(columns))
    return _kept.get(key, lambda: partition_totals(listed.files, columns, schema))


def as_written(wanted: PartitionFilter, schema: StructType | None) -> PartitionFilter:
    """Return a filter that has values as `partition_totals` has them."""
    values = tuple(
        (column, written_value(value, type_of(schema, column)))
        for column, value in wanted.partitions
    )
    return replace(wanted, partitions=values)


def partition_skew(totals: pa.Table) -> Skew | None:
    """Return how evenly bytes are spread; None without partitions."""
    sizes = np.sort(totals["bytes"].to_numpy().astype(np.float64))
    count, whole = len(sizes), float(sizes.sum())
    if not count:
        return None
    num_in_share = max(count // 100, 1)
    running = np.concatenate([[0.0], np.cumsum(sizes)]) / (whole or 1.0)
    places = np.unique(np.linspace(0, count, LORENZ_POINTS + 1).round().astype(int))
    gini = 1 - 2 * float(np.trapezoid(running)) / count if whole else 0.0
    return Skew(
        num_partitions=count,
        largest_bytes=int(sizes[-1]),
        median_bytes=int(np.median(sizes)),
        gini=round(max(gini, 0.0), 3),
        largest_share=round(100 * float(sizes[-num_in_share:].sum()) / (whole or 1), 1),
        num_in_share=num_in_share,
        lorenz=tuple(
            (round(100 * place / count, 2), round(100 * float(running[place]), 2))
            for place in places.tolist()
        ),
    )


def matching_partitions(
    totals: pa.Table, wanted: PartitionFilter, columns: Sequence[str]
) -> pa.Table:
    """Return the partitions that pass a filter."""
    mask = None
    for column, value in wanted.partitions:
        if column not in columns:
            known = ", ".join(columns)
            raise QueryError(part="partition", expected=f"a partition column ({known})")
        key = totals[f"key_{list(columns).index(column)}"]
        here = pc.equal(key, value) if value else pc.is_null(key)
        mask = _both(mask, here)
    if wanted.text:
        found = None
        for index in range(len(columns)):
            here = pc.match_substring(
                totals[f"key_{index}"], wanted.text, ignore_case=True
            )
            here = pc.fill_null(here, fill_value=False)
            found = here if found is None else pc.or_(found, here)
        mask = _both(mask, found)
    return totals if mask is None else totals.filter(mask)


def partition_page(
    totals: pa.Table, wanted: PartitionFilter, columns: Sequence[str], median_bytes: int
) -> PartitionPage:
    """Return one page of the partitions that pass a filter."""
    matching = matching_partitions(totals, wanted, columns)
    place = paged(matching.num_rows, wanted.page)
    order = _ordered(matching, wanted.sort, columns)
    shown = matching.take(order[place.rows])
    return PartitionPage(
        partitions=list(described(shown, columns, median_bytes)),
        paged=place,
        num_partitions=totals.num_rows,
        matching_bytes=pc.sum(matching["bytes"]).as_py() or 0,
        matching_files=pc.sum(matching["files"]).as_py() or 0,
    )


def partition_rows(
    totals: pa.Table, wanted: PartitionFilter, columns: Sequence[str]
) -> Iterator[list[object]]:
    """Yield the header and every partition of a filter, as the CSV form shows them."""
    matching = matching_partitions(totals, wanted, columns)
    order = _ordered(matching, wanted.sort, columns)
    yield [*columns, "files", "bytes", "rows", "average_file_bytes", "modified_at"]
    for start in range(0, len(order), CSV_CHUNK):
        some = matching.take(order[start : start + CSV_CHUNK])
        for partition in described(some, columns, 0):
            yield [
                *(value for _, value in partition.values),
                partition.num_files,
                partition.size_bytes,
                partition.num_records,
                partition.average_bytes,
                partition.modified_at,
            ]


def described(
    totals: pa.Table, columns: Sequence[str], median_bytes: int
) -> Iterator[Partition]:
    """Yield rows of `partition_totals` as values; for a page of them only."""
    keys = [totals[f"key_{index}"].to_pylist() for index in range(len(columns))]
    numbers = (
        totals[name].to_pylist()
        for name in ("files", "bytes", "rows", "average", "modified", "is_cut")
    )
    rows = zip(zip(*keys, strict=True), *numbers, strict=True)
    for values, num_files, size_bytes, num_records, average, modified, is_cut in rows:
        yield Partition(
            values=tuple(zip(columns, values, strict=True)),
            num_files=num_files,
            size_bytes=size_bytes,
            num_records=num_records,
            average_bytes=average,
            times_median=round(size_bytes / median_bytes, 2) if median_bytes else None,
            modified_at=moment_of(modified or 0),
            is_cut=is_cut,
        )


def _both(
    mask: pa.ChunkedArray | None, other: pa.ChunkedArray | None
) -> pa.ChunkedArray | None:
    if mask is None or other is None:
        return other if mask is None else mask
    return pc.and_(mask, other)


def _ordered(totals: pa.Table, sort: str, columns: Sequence[str]) -> pa.Array:
    """Return the places of partitions in the order asked for."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    order = "descending" if descending else "ascending"
    keys = [f"key_{index}" for index in range(len(columns))]
    if key == "values":
        return pc.sort_indices(totals, [(name, order) for name in keys])
    if key not in SORT_COLUMNS:
        known = ", ".join(["values", *SORT_COLUMNS])
        raise QueryError(
            part="sort", expected=f"one of {known}, with - in front for descending"
        )
    first = [(SORT_COLUMNS[key], order)]
    return pc.sort_indices(totals, first + [(name, "ascending") for name in keys])
