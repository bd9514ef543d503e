"""What is worth knowing of a file before its numbers are read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.parquet_file.differences import Difference
from apps.pages.page_json import OnPage
from deltaweb.delta.values.old_calendar.calendar import INT96, OldCalendar
from deltaweb.parquet.inspection.differences import LEGACY
from deltaweb.parquet.inspection.facts import FileFacts

DATED: Final = frozenset({"date", "timestamp"})
MAX_NAMED: Final = 3
MAX_WARNINGS: Final = 5
MAX_NAME_LENGTH: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sentence about the file.

    Attributes:
        is_costly: Whether it costs readers something.
        relations: What a survey of all files calls it.
        num_like: Files of the version that are so, where a survey has counted them.
    """

    subject: str = ""
    finding: str
    meaning: str = ""
    is_costly: bool = False
    relations: OnPage[tuple[str, ...]] = ()
    num_like: int = 0


def notes_of(
    facts: FileFacts, leaves: pa.Table, differences: Sequence[Difference]
) -> list[Note]:
    """Return what is worth knowing of a file, what costs something first.

    Args:
        leaves: The rows of `NODE_SCHEMA` that are leaf columns.
    """
    notes = [
        *_old_calendar(facts, leaves),
        *_ignored(leaves),
        *_differing(differences),
        *_warnings(facts),
    ]
    return sorted(notes, key=lambda note: not note.is_costly)


def _old_calendar(facts: FileFacts, leaves: pa.Table) -> Iterator[Note]:
    """Say that values are not those that rows of the table have."""
    keys = {one.key.encode(): (one.value or "").encode() for one in facts.key_values}
    kinds = {*leaves["delta_type"].to_pylist()} & DATED
    has_int96 = INT96 in leaves["physical_type"].to_pylist()
    leaf = frozenset({("", 0)} if has_int96 else ())
    found = OldCalendar.of(keys, lambda: leaf)
    if found is None or not kinds:
        return
    yield Note(
        finding="Days and times before 1900 are in Spark's old calendar, in the time"
        f" zone {found.zone[:MAX_NAME_LENGTH]}.",
        meaning="This page shows them as they are stored. Rows of the table show them"
        " in today's calendar.",
        is_costly=True,
    )


def _ignored(leaves: pa.Table) -> Iterator[Note]:
    has_ignored = pc.greater(leaves["num_ignored"], 0)
    has_none = pc.less(leaves["num_ranges"], leaves["num_chunks"])
    is_legacy = pc.fill_null(pc.equal(leaves["physical_type"], INT96), False)  # noqa: FBT003 (Arrow's signature)
    found = leaves.filter(pc.or_(has_ignored, pc.and_(is_legacy, has_none)))
    names = ["path", "physical_type", "num_ranges", "num_chunks", "ignored_because"]
    rows = found.slice(0, MAX_NAMED).select(names).to_pylist()
    for row in rows:
        legacy = row["physical_type"] == INT96
        kind = "stored as INT96, which has no defined order" if legacy else ""
        finding = f"is {kind}." if legacy else "has statistics that are ignored."
        without = row["num_chunks"] - row["num_ranges"]
        groups = f"{without:,} of {row['num_chunks']:,} row groups"
        yield Note(
            subject=".".join(row["path"])[:MAX_NAME_LENGTH],
            finding=finding,
            meaning=f"{_sentence(row['ignored_because'])} A filter on it cannot skip "
            f"{groups} of this file.".strip(),
            is_costly=True,
            relations=(LEGACY,) if legacy else (),
        )
    if (more := found.num_rows - len(rows)) > 0:
        yield Note(
            finding=f"{more:,} more columns have no reliable range.",
            meaning="The schema below says which, a column a row.",
            is_costly=True,
        )


def _differing(differences: Sequence[Difference]) -> Iterator[Note]:
    words = {
        "missing": ("is not in the file.", "{more} more columns are not in the file."),
        "unknown": (
            "is not in the table.",
            "{more} more columns of the file are not in the table.",
        ),
    }
    for kind, (finding, others) in words.items():
        found = [one for one in differences if one.kind == kind]
        for one in found[:MAX_NAMED]:
            yield Note(
                subject=one.column[:MAX_NAME_LENGTH],
                finding=finding,
                meaning=_sentence(one.note),
                relations=(one.relation,),
            )
        if len(found) > MAX_NAMED:
            yield Note(finding=others.format(more=f"{len(found) - MAX_NAMED:,}"))
    for one in [one for one in differences if one.kind == "type"][: 2 * MAX_NAMED]:
        yield Note(
            subject=one.column[:MAX_NAME_LENGTH],
            finding=f"is {one.file_type} here; the table says {one.table_type}.",
            meaning=_sentence(one.note),
            relations=(one.relation,),
        )


def with_files_like(notes: Sequence[Note], sums: pa.Table | None) -> list[Note]:
    """Return notes with how many files of the version are so.

    Args:
        sums: `SURVEY_SCHEMA` of a survey of all files; None where there was none.
    """
    if sums is None:
        return list(notes)
    found = sums.filter(pc.equal(sums["kind"], "difference"))
    files = {
        (row["name"], row["relation"]): row["files"]
        for row in found.select(["name", "relation", "files"]).to_pylist()
    }
    return [
        replace(
            note,
            num_like=max(
                (files.get((note.subject, one), 0) for one in note.relations),
                default=0,
            ),
        )
        for note in notes
    ]


def _warnings(facts: FileFacts) -> Iterator[Note]:
    if facts.encryption:
        yield Note(
            finding=f"Columns are encrypted by {facts.encryption}.",
            meaning="deltaweb does not read their pages.",
            is_costly=True,
        )
    warnings = facts.warnings
    for text in warnings[:MAX_WARNINGS]:
        yield Note(finding=text, is_costly=True)
    if len(warnings) > MAX_WARNINGS or facts.has_more_warnings:
        yield Note(finding="There are more such warnings; the JSON form has them.")


def _sentence(text: str | None) -> str:
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
