"""What the files of a version cost those who read them, in bytes and sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from deltaweb.parquet.inspection.differences import LEGACY, REFUSED
from deltaweb.words import counted, size_text

MAX_COSTS: Final = 8
LARGE_PERCENT: Final = 25
FEW_COLUMNS: Final = 3
MANY_FILES: Final = 100
Row: TypeAlias = dict[str, Any]
"""A row of `SURVEY_SCHEMA`, or of a difference, named as its JSON is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Something that costs readers.

    Attributes:
        size_bytes: The bytes that are concerned.
        example: The path of a file that has it, or nothing.
    """

    size_bytes: int
    subject: str = ""
    finding: str
    meaning: str
    example: str = ""


def costs_of(
    num_files: int,
    footer_bytes: int,
    columns: Sequence[Row],
    unlike: Sequence[Row],
    unreadable: Sequence[Row],
) -> list[Cost]:
    """Return what costs readers, the most bytes first.

    Args:
        footer_bytes: Bytes of their footers.
        columns: Leaf columns by their bytes, the largest first.
        unlike: Columns that are otherwise in some files.
        unreadable: Errors of files whose footers do not read.
    """
    costs = [*_of_columns(columns), *_of_types(unlike), *_of_errors(unreadable)]
    if num_files >= MANY_FILES:
        costs.append(
            Cost(
                size_bytes=footer_bytes,
                finding=f"A whole scan opens {num_files:,} files.",
                meaning=f"It reads {size_text(footer_bytes)} of footers before the "
                "first row; fewer and larger files have less.",
            )
        )
    return sorted(costs, key=lambda cost: -cost.size_bytes)[:MAX_COSTS]


def _of_columns(columns: Sequence[Row]) -> Iterator[Cost]:
    if len(columns) <= FEW_COLUMNS:
        return
    for column in columns[:2]:
        if column["percent"] >= LARGE_PERCENT:
            yield Cost(
                size_bytes=column["bytes"],
                subject=column["name"],
                finding=f"is {column['percent']:g} % of all bytes.",
                meaning="Readers that name their columns never fetch it; SELECT * "
                "always does.",
            )


def _of_types(unlike: Sequence[Row]) -> Iterator[Cost]:
    for one in unlike:
        files = counted(one["files"], "file")
        if one["relation"] == LEGACY:
            yield Cost(
                size_bytes=one["column_bytes"],
                subject=one["column"],
                finding=f"is INT96 in {files}, so no row group of theirs can be "
                "skipped by it.",
                meaning="The log's ranges still skip whole files. Rewriting the "
                "files with TIMESTAMP fixes it.",
                example=one["example"],
            )
        elif one["relation"] == REFUSED:
            yield Cost(
                size_bytes=one["column_bytes"],
                subject=one["column"],
                finding=f"is {one['file_type']} in {files}, which has no Delta type.",
                meaning="Readers that ask for the column fail on these files.",
                example=one["example"],
            )


def _of_errors(unreadable: Sequence[Row]) -> Iterator[Cost]:
    for one in unreadable:
        files = counted(one["files"], "file")
        yield Cost(
            size_bytes=one["bytes"],
            finding=f"{files} cannot be read.",
            meaning=one["detail"] or one["name"],
            example=one["example"],
        )
