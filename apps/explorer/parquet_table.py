"""What all Parquet files of a version really hold."""

from dataclasses import dataclass
from itertools import pairwise

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.explorer.drawing import SMALL, histogram_figure
from apps.explorer.overview.selector import target_bytes_of
from apps.explorer.version.page import JobOfPage, TablePage, still
from apps.explorer.version.query import parse_page
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_columns
from apps.jobs.models import Job
from apps.jobs.results import JobRows
from apps.pages.errors import PageError
from apps.pages.figures import ACCENT, MIN_BARS, Chart
from apps.pages.lists.paging import PageLinks, page_links
from apps.pages.page_json import OnPage, Spread
from apps.pages.responses import respond_page
from apps.tables.head.job_json import check_job
from apps.tables.versions.survey.inside import (
    SMALL_GROUP_BYTES,
    GroupSizes,
    TableInside,
    difference_lines,
    table_inside,
)
from apps.tables.work.survey_files import SURVEY_FILES, FileSurvey, Surveyed
from deltaweb.index.file_survey import surveyed_columns
from deltaweb.parquet.inspection.differences import SurveyedColumn
from deltaweb.words import bytes_text


@dataclass(frozen=True, kw_only=True)
class ParquetPage(TablePage):
    """All files of a version; without `inside` a job still reads their footers."""

    job: JobOfPage
    inside: Spread[TableInside | None]
    links: OnPage[PageLinks]
    chart: OnPage[Chart | None]
    marks_small: OnPage[bool]
    engine: str | None
    seconds: float | None


def parquet_detail(
    request: HttpRequest, at: TableVersion, fmt: str
) -> HttpResponseBase:
    """Show what the files of a version hold; a job reads all their footers."""
    number = parse_page(request.GET)
    job, found = _survey(request, at, waits=fmt == "csv")
    if fmt != "html":
        check_job(job)
    if fmt == "csv" and found is None:
        raise _not_ready(at, job)
    inside = None if found is None else table_inside(_columns(at), found.rows, number)
    has_groups = inside is not None and inside.group_sizes.counts
    marks_small = target_bytes_of(at) is not None
    page = ParquetPage(
        at=at,
        job=job,
        inside=inside,
        links=page_links(request, inside.by_bytes.paged if inside else None),
        chart=group_sizes(inside.group_sizes, marks_small=marks_small)
        if inside and has_groups
        else None,
        marks_small=marks_small,
        engine=found.facts.engine if found else None,
        seconds=found.facts.seconds if found else None,
    )
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/parquet_table/parquet_detail.html",
        fragment="parquet",
        rows=() if inside is None else difference_lines(inside),
        status=202 if job and inside is None and fmt == "json" else 200,
    )


def _columns(at: TableVersion) -> tuple[SurveyedColumn, ...]:
    schema = table_columns(at)
    if schema is None or at.metadata is None:
        return ()
    return surveyed_columns(schema, at.metadata.partition_columns)


def _survey(
    request: HttpRequest, at: TableVersion, *, waits: bool
) -> tuple[Job | None, JobRows[Surveyed] | None]:
    if at.version is None or at.unlisted_reason:
        return None, None
    return SURVEY_FILES.answer(
        at.table,
        FileSurvey(version=at.version),
        requested_by=signed_in(request),
        now=timezone.now(),
        waits=waits,
    )


def _not_ready(at: TableVersion, job: Job | None) -> PageError:
    if job is None:
        message = at.unlisted_reason or f"{at.table.full_name} is not indexed yet."
        hint = "Open the page of the table: it says why."
        return PageError(status=409, code="not-listed", message=message, hint=hint)
    return still(
        "reading", f"The footers of version {at.version} are still being read.", job
    )


# === The picture of the sizes of row groups ===

MAX_TICKS = 10
BOTH = 2  # row groups, of which people do not say all


def group_sizes(sizes: GroupSizes, *, marks_small: bool) -> Chart:
    """Draw how many row groups have which size.

    Args:
        marks_small: Whether small ones are marked; those of a table that is smaller
            than one file should be are all small, and no fault.
    """
    texts = [
        f"{bytes_text(low)} to {bytes_text(high)}"
        for low, high in pairwise(sizes.edges)
    ]
    figure = histogram_figure(
        sizes.counts,
        texts,
        [bytes_text(edge) for edge in sizes.edges],
        unit="row groups",
        max_ticks=MAX_TICKS,
        colours=[
            SMALL if marks_small and edge < SMALL_GROUP_BYTES else ACCENT
            for edge in sizes.edges[:-1]
        ],
    )
    total = sum(sizes.counts)
    shown = [pair for pair in zip(texts, sizes.counts, strict=True) if pair[1]]
    small = f", {sizes.num_small:,} of them small" if marks_small else ""
    below = f"{sizes.num_small:,} of {total:,} below {bytes_text(SMALL_GROUP_BYTES)}"
    return Chart(
        name="group-sizes",
        label=f"Sizes of {total:,} row groups{small}",
        figure=figure,
        header=("Size", "Row groups"),
        rows=shown,
        note=below if marks_small else "",
        height="x-plot-s",
        words=_words(shown[0][0], total) if len(shown) < MIN_BARS else "",
    )


def _words(text: str, total: int) -> str:
    if total == 1:
        return f"The one row group has {text}."
    many = "Both" if total == BOTH else f"All {total:,}"
    return f"{many} row groups have {text}."


table_read(
    "/survey",
    "TableSurvey",
    "parquet-detail",
    ParquetPage,
    "Get the contents of all Parquet files of a version.",
    waits=True,
)
