"""The columns that can skip files: files with a range, and their overlap.

It also says how much of the log the statistics of each column take.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.columns.ranges import leaf_values, mean_depth
from apps.explorer.version.listed import Kept
from apps.pages.page_json import Named, OnPage
from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import (
    LeafField,
    StructType,
    leaf_fields,
    short_type_text,
    stored_schema,
)
from deltaweb.delta.values.statistics.shape import has_order
from deltaweb.index.folder.file_index import open_files
from deltaweb.index.folder.parts import IndexMissingError

MAX_SAMPLED: Final = 20_000
"""Files of which it is found out how their ranges overlap."""
MAX_PARSED: Final = 1_000
MAX_PARSED_BYTES: Final = 2 << 20
"""Files, and bytes of statistics, that are parsed to see what each column takes."""
MAX_COLUMNS: Final = 200
MAX_KEPT: Final = 16
MAX_TYPE: Final = 40
WELL_PERCENT: Final = 10.0
PARTLY_PERCENT: Final = 50.0
HARDLY_PERCENT: Final = 95.0

_kept: Kept[tuple["ColumnCoverage", ...]] = Kept(MAX_KEPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCoverage:
    """What the statistics of one column can skip.

    Attributes:
        num_known: Files with a range, or a partition value; None if the index does
            not tell.
        percent_read: Percentage of these that a filter on one value reads, on
            average; None if it is unknown.
        is_estimate: Whether that is from a sample of the files.
        log_bytes: About how many bytes of the log its statistics take; None
            if the index does not have their text.
        percent_of_statistics: The same as a percentage of all statistics.
        verdict: "skips well", "in part", "hardly", "never", "no statistics" or
            "unknown".
        tone: The colour of the verdict.
    """

    name: str
    type_text: Annotated[str, Named("type")]
    is_partition: bool
    num_files: OnPage[int]
    num_known: Annotated[int | None, Named("files_with_statistics")]
    percent_read: float | None
    is_estimate: bool
    log_bytes: int | None
    percent_of_statistics: float | None
    verdict: str
    tone: OnPage[str]

    @property
    def percent_known(self) -> float:
        """How much of the bar is full."""
        return 100 * (self.num_known or 0) / max(self.num_files, 1)


def coverage_of(
    table: Table, schema: StructType, partition_columns: list[str]
) -> tuple[ColumnCoverage, ...]:
    """Return what each of the first columns can skip; nothing without an index."""
    folder = index_folder(table)
    if folder is None:
        return ()
    try:
        return _kept.get(
            str(folder),
            lambda: column_coverage(open_files(folder), schema, partition_columns),
        )
    except IndexMissingError:
        return ()


def column_coverage(
    files: pa.Table, schema: StructType, partition_columns: list[str]
) -> tuple[ColumnCoverage, ...]:
    """Return what each of the first columns can skip.

    Args:
        files: By `deltaweb.index.folder.file_index.open_files`.
    """
    if "path" not in files.column_names:
        return ()
    sample = _sample(files.num_rows)
    leaves = leaf_fields(schema)[:MAX_COLUMNS]
    stored = leaf_fields(stored_schema(schema))[:MAX_COLUMNS]
    shares = _log_shares(files, [leaf.path for leaf in stored])
    return tuple(
        _of_column(files, leaf, partition_columns, sample, shares.get(path))
        for leaf, (path, _) in zip(leaves, stored, strict=True)
    )


def _sample(num_files: int) -> pa.Array | None:
    if num_files <= MAX_SAMPLED:
        return None
    return pa.array(np.linspace(0, num_files - 1, MAX_SAMPLED).astype(np.int64))


def _of_column(
    files: pa.Table,
    leaf: LeafField,
    partition_columns: list[str],
    sample: pa.Array | None,
    log_share: tuple[int, float] | None,
) -> ColumnCoverage:
    is_partition = leaf.path[0] in partition_columns
    ends = _ends(files, leaf.path, is_partition=is_partition)
    num_known, percent = None, None
    if ends is not None:
        both = pc.and_(pc.is_valid(ends[0]), pc.is_valid(ends[1]))
        num_known = files.num_rows if is_partition else pc.sum(both).as_py() or 0
        if sample is not None:
            ends, both = [one.take(sample) for one in ends], both.take(sample)
        low, high = (one.filter(both) for one in ends)
        depth = mean_depth(low, high)
        percent = None if depth is None else 100 * depth / len(low)
    elif not has_order(leaf):
        num_known = 0
    verdict, tone = _verdict(num_known, percent)
    return ColumnCoverage(
        name=".".join(leaf.path),
        type_text=short_type_text(leaf.data_type, MAX_TYPE),
        is_partition=is_partition,
        num_files=files.num_rows,
        num_known=num_known,
        percent_read=None if percent is None else round(percent, 1),
        is_estimate=percent is not None and sample is not None,
        log_bytes=log_share[0] if log_share else None,
        percent_of_statistics=log_share[1] if log_share else None,
        verdict=verdict,
        tone=tone,
    )


def _ends(
    files: pa.Table, path: ColumnPath, *, is_partition: bool
) -> list[pa.ChunkedArray] | None:
    """Return the bounds of a column in each file; None if they are not typed."""
    names = ("partition", "partition") if is_partition else ("min", "max")
    found = [leaf_values(files[name], path) for name in names]
    ends = [
        one for one in found if one is not None and not pa.types.is_nested(one.type)
    ]
    return ends if len(ends) == len(names) else None


def _verdict(num_known: int | None, percent: float | None) -> tuple[str, str]:
    if num_known is None:
        return "unknown", "is-gray"
    if not num_known:
        return "no statistics", "is-amber"
    if percent is None:
        return "unknown", "is-gray"
    if percent <= WELL_PERCENT:
        return "skips well", "is-green"
    if percent <= PARTLY_PERCENT:
        return "in part", "is-blue"
    return ("hardly", "is-amber") if percent < HARDLY_PERCENT else ("never", "is-red")


# === What statistics take of the log ===


def _log_shares(
    files: pa.Table, paths: Sequence[ColumnPath]
) -> dict[ColumnPath, tuple[int, float]]:
    """Return about how many bytes of the log columns take, and percent of statistics.

    The statistics of some files are parsed, and what columns take there is scaled up.

    Args:
        paths: By the names that the log has for them.
    """
    if "stats" not in files.column_names:
        return {}
    texts = files["stats"]
    total = pc.sum(pc.binary_length(texts)).as_py() or 0
    parsed, parsed_bytes = [], 0
    for text in _some(texts, total):
        with suppress(ValueError, RecursionError):
            parsed.append(json.loads(text))
            parsed_bytes += len(text.encode())
    shares = {}
    for path in paths if parsed_bytes else ():
        taken = sum(_bytes_at(one, path) for one in parsed)
        part = min(taken / parsed_bytes, 1)
        shares[path] = round(part * total), round(100 * part, 1)
    return shares


def _some(texts: pa.ChunkedArray, total_bytes: int) -> Iterator[str]:
    """Yield the texts of some files, spread evenly, as far as they are worth it."""
    num_files = len(texts)
    if not num_files:
        return
    affordable = MAX_PARSED_BYTES * num_files // max(total_bytes, 1)
    count = min(num_files, MAX_PARSED, max(affordable, 1))
    places = np.linspace(0, num_files - 1, count).astype(np.int64)
    for text in texts.take(pa.array(places)).to_pylist():
        if text is not None and len(text) <= MAX_PARSED_BYTES:
            yield text


def _bytes_at(statistics: object, path: ColumnPath) -> int:
    """Return how many bytes the statistics of a file spend on a column."""
    taken = 0
    for kind in ("minValues", "maxValues", "nullCount"):
        value = statistics.get(kind) if isinstance(statistics, dict) else None
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            pair = {path[-1]: value}
            text = json.dumps(pair, ensure_ascii=False, separators=(",", ":"))
            taken += len(text.encode(errors="replace")) - 1  # a brace is a comma
    return taken
