"""Which files two versions do not share: a page of them, and sums by partition."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.forms import QueryError
from apps.explorer.selectors.page_numbers import PageNumbers
from apps.tables.comparing import KIND

PAGE_LENGTH = 50
MAX_PARTITIONS = 8
MAX_SUMMED_FILES = 200_000  # of partitions that are added up for one page
KINDS = {
    "added": "added",
    "removed": "removed",
    "rewritten": "rewritten",
    "rewritten_into": "rewritten into",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that one of the versions lacks."""

    kind: str
    path: str
    size_bytes: int
    modified_at: datetime | None

    @property
    def word(self) -> str:
        """What happened to it."""
        return KINDS[self.kind]

    @property
    def is_new(self) -> bool:
        """Whether the second version has it."""
        return self.kind in {"added", "rewritten_into"}

    def describe(self) -> dict[str, object]:
        """Return the file as the JSON form shows it."""
        return {
            "kind": self.kind,
            "path": self.path,
            "size": self.size_bytes,
            "modified_at": self.modified_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """Files of a partition that came and went, and bars of at most half the width."""

    text: str
    num_added: int
    num_removed: int
    added_percent: float
    removed_percent: float

    @property
    def removed_x(self) -> float:
        """Where the bar of what went begins."""
        return 50.0 - self.removed_percent


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFilePage(PageNumbers):
    """Some of the files, and how many there are."""

    files: list[ChangedFile]
    kind: str
    num_matching: int
    facts: Mapping[str, Any]


def changed_file_page(
    files: pa.Table, facts: Mapping[str, Any], *, kind: str, page: int
) -> ChangedFilePage:
    """Return a page of the files, of one kind or of all for "".

    Raises:
        PageError: 400 for an unknown kind.
    """
    matching = _of_kind(files, kind)
    num_pages = max(-(-matching.num_rows // PAGE_LENGTH), 1)
    page = min(page, num_pages)
    start = (page - 1) * PAGE_LENGTH
    return ChangedFilePage(
        files=list(_files(matching.slice(start, PAGE_LENGTH))),
        kind=kind,
        page=page,
        num_pages=num_pages,
        num_matching=matching.num_rows,
        facts=facts,
    )


def changed_file_rows(files: pa.Table, *, kind: str) -> Iterator[Sequence[object]]:
    """Yield the header and every file, as the CSV form shows them."""
    yield ["kind", "path", "size", "modified_at"]
    for file in _files(_of_kind(files, kind)):
        yield [file.kind, file.path, file.size_bytes, file.modified_at]


def partition_changes(files: pa.Table) -> list[PartitionChange]:
    """Return the partitions with the most files that came or went."""
    counts: dict[str, Counter[bool]] = {}
    some = files.select([KIND, "partition_values"]).slice(0, MAX_SUMMED_FILES)
    for row in some.to_pylist():
        if row["partition_values"]:
            text = ", ".join(
                f"{name}={'null' if value is None else value}"
                for name, value in row["partition_values"]
            )
            is_new = row[KIND] in {"added", "rewritten_into"}
            counts.setdefault(text, Counter())[is_new] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    largest = max((max(c.values()) for _, c in ordered), default=1)
    return [
        PartitionChange(
            text=text,
            num_added=count[True],
            num_removed=count[False],
            added_percent=round(48 * count[True] / largest, 1),
            removed_percent=round(48 * count[False] / largest, 1),
        )
        for text, count in ordered[:MAX_PARTITIONS]
    ]


def _of_kind(files: pa.Table, kind: str) -> pa.Table:
    if not kind:
        return files
    if kind not in KINDS:
        raise QueryError(part="kind", expected=f"one of {', '.join(KINDS)}")
    return files.filter(pc.equal(files[KIND], kind))


def _files(files: pa.Table) -> Iterator[ChangedFile]:
    for batch in files.to_batches(max_chunksize=PAGE_LENGTH * 20):
        for row in batch.drop_columns(["partition_values"]).to_pylist():
            yield ChangedFile(
                kind=row[KIND],
                path=row["path"],
                size_bytes=row["size"],
                modified_at=_moment(row["modification_time"]),
            )


def _moment(time_ms: int | None) -> datetime | None:
    try:
        return None if time_ms is None else datetime.fromtimestamp(time_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
