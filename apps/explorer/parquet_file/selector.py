"""What the page of a Parquet file shows, from what its job has left."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Annotated, Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.grid import Cell, cell
from apps.explorer.parquet_file.differences import Difference, differences
from apps.explorer.parquet_file.form import FileQuery
from apps.explorer.parquet_file.found import UNKNOWN_SIZE, FoundFile
from apps.explorer.parquet_file.groups import (
    Bin,
    Chunks,
    ColumnBytes,
    ShownColumn,
    ShownGroup,
)
from apps.explorer.parquet_file.notes import Note, notes_of, with_files_like
from apps.explorer.parquet_file.schema import NodePage, node_page
from apps.explorer.version.table_version import TableVersion, table_columns
from apps.jobs.models import Job
from apps.jobs.results import JobRows, job_table
from apps.pages.lists.paging import Paged
from apps.pages.page_json import Named, OnPage
from apps.tables.work.file_look import LookedAtFile
from apps.tables.work.inspect_file import GROUPS, NODES, TEXTS
from apps.tables.work.preview_file import FirstRowsRead
from apps.tables.work.survey_files import SURVEY_FILES, FileSurvey
from deltaweb.parquet.inspection.facts import KEY, FileFacts, NamedBytes

MAX_CODE_LENGTH: Final = 20_000
MAX_ROW_COLUMNS: Final = 60
MAX_JSON_CELL: Final = 4_000
L = TypeVar("L", bound=LookedAtFile)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCounts:
    """How many leaf columns have what lets readers skip; names of a few that lack it.

    Attributes:
        num_columns: The number of leaf columns of the file.
        page_index, bloom_filter, ranges: The number of columns that have minimum and
            maximum in every row group.
    """

    num_columns: int
    page_index: int
    bloom_filter: int
    ranges: int
    ranges_ignored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeText:
    """The schema as another system writes it, or why it does not.

    Attributes:
        language: The name of the system.
        text: The text or its beginning; empty if there is none.
        is_cut: Whether the text continues.
        problem: The reason why there is no text.
    """

    language: str
    text: str
    is_cut: bool
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GridOfRows:
    """The first rows of a file, for a page.

    Attributes:
        columns: Their names; not all of very many.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    num_columns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInside:
    """What is in a file.

    Attributes:
        facts: What the footer says of the file.
        notes: What is worth knowing first.
        differences: Differences from the columns of the table.
        indexes: The indexes that readers use to skip data.
        code: The schema for another system, if it was requested.
        bins: Its row groups in short.
        group: One row group with its columns.
        column: One column in all row groups.
        bars: The largest columns, a page of them.
    """

    facts: Annotated[FileFacts, Named("footer")]
    notes: OnPage[list[Note]]
    differences: list[Difference]
    indexes: IndexCounts
    schema: NodePage
    code: CodeText | None
    bins: Annotated[list[Bin], Named("row_groups")]
    group: ShownGroup | None
    column: ShownColumn | None
    bars: Annotated[list[ColumnBytes], Named("columns_by_bytes")]
    bars_paged: OnPage[Paged]
    rest_bytes: OnPage[int] = 0
    ratio: OnPage[str] = ""
    families: OnPage[list["BarPart"]] = field(default_factory=list)

    @property
    def missing(self) -> list[Difference]:
        """Columns of the table that the file has not."""
        return [one for one in self.differences if one.file_type is None]


def asked_of(at: TableVersion, file: FoundFile, kind: type[L]) -> L:
    """Return what a job of a file is asked.

    Args:
        kind: What jobs of the kind are asked.
    """
    return kind(
        path=file.path,
        size=UNKNOWN_SIZE if file.size is None else file.size,
        modified=UNKNOWN_SIZE if file.modified is None else file.modified,
        version=at.version or 0,
    )


def file_inside(
    job: Job,
    found: JobRows[FileFacts],
    query: FileQuery,
    at: TableVersion | None = None,
) -> FileInside | None:
    """Return what a page shows of a file; None where a part of the result is gone.

    Args:
        at: The table's version that the file is held against; None of no table.
    """
    nodes, groups = job_table(job, NODES), job_table(job, GROUPS)
    if nodes is None or groups is None:
        return None
    facts = found.facts
    chunks = Chunks(found.rows, groups, nodes)
    table = table_columns(at) if at else None
    partitions = at.metadata.partition_columns if at and at.metadata else ()
    differing = differences(nodes, table, partitions)
    bars, place = chunks.by_bytes(query.bar_page)
    total = facts.compressed_bytes
    has_groups = groups.num_rows > 0
    return FileInside(
        facts=facts,
        notes=with_files_like(notes_of(facts, chunks.leaves, differing), _surveyed(at)),
        differences=differing,
        indexes=_index_counts(chunks.leaves),
        schema=node_page(nodes, query.text, query.page, table),
        code=_code(job, query.language) if query.language else None,
        bins=chunks.bins(),
        group=chunks.group(query.group, query.chunk_page) if has_groups else None,
        column=None
        if query.column is None
        else chunks.column(query.column, query.group_page, query.condition),
        bars=bars,
        bars_paged=place,
        rest_bytes=total - sum(bar.row["compressed_bytes"] for bar in bars),
        ratio=f"{facts.uncompressed_bytes / total:.1f}" if total > 0 else "",
        families=_stacked(facts.encodings, total),
    )


def _surveyed(at: TableVersion | None) -> pa.Table | None:
    """Return the sums of a survey that somebody has asked for; this asks for none."""
    if at is None or at.version is None:
        return None
    known = SURVEY_FILES.known(at.table, FileSurvey(version=at.version))
    return None if known is None else known.rows


def whole_text(job: Job, place: int) -> str | None:
    """Return a text of a footer, all of it; None where there is none.

    Args:
        place: Its row in `TEXT_SCHEMA`.
    """
    texts = job_table(job, TEXTS)
    if texts is None or place >= texts.num_rows:
        return None
    text: str | None = texts["text"][place].as_py()
    return text


def text_place(job: Job, language: str) -> int | None:
    """Return where the schema in a language is among the texts."""
    texts = job_table(job, TEXTS)
    if texts is None:
        return None
    place: int = pc.index(texts["kind"], language).as_py()
    return place if place >= 0 and language != KEY else None


def _code(job: Job, language: str) -> CodeText | None:
    texts = job_table(job, TEXTS)
    place = text_place(job, language)
    if texts is None or place is None:
        return None
    row = texts.slice(place, 1)
    text = pc.utf8_slice_codeunits(row["text"], 0, MAX_CODE_LENGTH + 1)[0].as_py()
    return CodeText(
        language=language,
        text=(text or "")[:MAX_CODE_LENGTH],
        is_cut=len(text or "") > MAX_CODE_LENGTH,
        problem=row["name"][0].as_py()[:2_000] if text is None else "",
    )


def _index_counts(leaves: pa.Table) -> IndexCounts:
    chunks = leaves["num_chunks"]

    def everywhere(name: str) -> int:
        has = pc.and_(pc.equal(leaves[name], chunks), pc.greater(chunks, 0))
        return int(pc.sum(has).as_py() or 0)

    return IndexCounts(
        num_columns=leaves.num_rows,
        page_index=everywhere("num_page_indexes"),
        bloom_filter=everywhere("num_bloom_filters"),
        ranges=everywhere("num_ranges"),
        ranges_ignored=pc.sum(pc.greater(leaves["num_ignored"], 0)).as_py() or 0,
    )


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar of bytes: where it begins and how wide it is, in percent."""

    begin: float
    width: float


def _stacked(families: Sequence[NamedBytes], total: int) -> list[BarPart]:
    stacked, begin = [], 0.0
    for family in families[:3]:
        width = 100 * family.bytes / total if total > 0 else 0.0
        stacked.append(BarPart(round(begin, 2), round(width, 2)))
        begin += width
    return stacked


def grid_of_rows(found: JobRows[FirstRowsRead]) -> GridOfRows:
    """Return the first rows of a file as a page shows them."""
    rows = row_objects(found, MAX_JSON_CELL)
    names = list(rows[0]) if rows else []
    shown = names[:MAX_ROW_COLUMNS]
    return GridOfRows(
        columns=shown,
        rows=[[_cell(row.get(name)) for name in shown] for row in rows],
        num_columns=len(names),
    )


def row_objects(
    found: JobRows[FirstRowsRead], limit: int = MAX_JSON_CELL
) -> list[dict[str, Any]]:
    """Return the first rows of a file; long texts are cut."""
    texts = found.rows["row"].to_pylist()
    return [
        {name: _cut(value, limit) for name, value in json.loads(text).items()}
        for text in texts
    ]


def _cut(value: Any, limit: int) -> Any:  # noqa: ANN401 (values of any type)
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]}…"
    if isinstance(value, (dict, list)):
        text = json.dumps(value, ensure_ascii=False)
        return value if len(text) <= limit else f"{text[:limit]}…"
    return value


def _cell(value: Any) -> Cell:  # noqa: ANN401 (as above)
    if isinstance(value, dict) and set(value) == {"hex"}:
        return cell(bytes.fromhex(value["hex"]), UTC)
    return cell(value, UTC)
