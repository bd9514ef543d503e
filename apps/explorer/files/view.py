"""The files of a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase

from apps.explorer.files import selector as files
from apps.explorer.files.chart import rows_per_file, sizes_by_age
from apps.explorer.files.distributions import FileSpread, file_spread
from apps.explorer.files.form import FileFilter, parse_file_filter
from apps.explorer.files.listing import listed_files, not_ready
from apps.explorer.files.spread_words import SpreadWords, spread_words
from apps.explorer.files.vectors import VectorLens, vector_lens
from apps.explorer.grid import named_value
from apps.explorer.overview.selector import sizes_chart, target_bytes_of
from apps.explorer.version.listed import ListedFiles
from apps.explorer.version.page import JobOfPage, TablePage
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_columns
from apps.pages.figures import Chart
from apps.pages.lists.links import Chip, only, without
from apps.pages.lists.paging import PageLinks, page_links
from apps.pages.lists.sorting import Column, Header, sort_headers
from apps.pages.page_json import OnPage, Spread
from apps.pages.responses import respond_page
from apps.tables.head.job_json import check_job
from deltaweb.words import size_text

MAX_PARTITIONS = 20
SMALL = "x-plot-xs"
MASKED = "masked"
COLUMNS = (
    Column(key="path", label="Path"),
    Column(key="size", label="Size", begins_descending=True, css="dw-r"),
    Column(key="rows", label="Rows", begins_descending=True, css="dw-r"),
    Column(key=MASKED, label="Masked", begins_descending=True),
    Column(key="modified", label="Modified", begins_descending=True, css="dw-r"),
)


@dataclass(frozen=True, kw_only=True)
class Distributions:
    """How the files are spread; `sizes` is known of the newest version."""

    sizes: object
    spread: Spread[FileSpread]


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """How the files are spread, or sentences where a picture would show little."""

    words: SpreadWords | None = None
    chart: Chart | None = None
    ages_chart: Chart | None = None
    rows_chart: Chart | None = None


@dataclass(frozen=True, kw_only=True)
class FileList(TablePage):
    """The files of a version; without `page` a job still lists them."""

    page: Spread[files.FilePage | None]
    links: Spread[PageLinks]
    job: JobOfPage
    wanted: OnPage[FileFilter]
    chips: OnPage[Sequence[Chip]]
    headers: OnPage[Sequence[Header]]
    partition_columns: OnPage[Sequence[str]]
    partitions: Sequence[files.PartitionShare]
    shares: OnPage[Sequence[dict[str, object]]]
    partitions_raw: OnPage[Sequence[str]]
    distributions: Distributions | None
    vectors: VectorLens | None
    pictures: OnPage[Pictures]

    @property
    def num_partitions(self) -> object:
        return self.table.summary.get("num_partitions")


def file_list(request: HttpRequest, at: TableVersion, fmt: str) -> HttpResponseBase:
    """List the files of a version; those of an older one come from a job."""
    wanted = parse_file_filter(request.GET)
    listed, job = listed_files(request, at, waits=fmt == "csv")
    columns = at.metadata.partition_columns if at.metadata else []
    schema, found = table_columns(at), None
    if listed is not None:
        found = files.file_page(listed.files, wanted, columns, schema)
    shares = files.partition_shares(at.table, columns) if at.is_latest else []
    lens = None if listed is None or fmt == "csv" else vector_lens(listed)
    spread = None if listed is None or fmt == "csv" else file_spread(listed)
    if fmt != "html":
        check_job(job)
    if fmt == "csv" and listed is None:
        raise not_ready(at, job)
    page = FileList(
        at=at,
        page=found,
        links=page_links(request, found.paged if found else None),
        job=job,
        wanted=wanted,
        chips=_chips(request, wanted),
        headers=sort_headers(
            request,
            [column for column in COLUMNS if lens or column.key != MASKED],
            wanted.sort,
        ),
        partition_columns=columns,
        partitions=shares,
        shares=[_share(request, share) for share in shares[:MAX_PARTITIONS]],
        partitions_raw=request.GET.getlist("partition"),
        distributions=_distributions(at, spread),
        vectors=lens,
        pictures=_pictures(request, at, listed, spread),
    )
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/files/file_list.html",
        fragment="files",
        rows=()
        if listed is None
        else files.file_rows(listed.files, wanted, columns, schema),
        status=202 if job and listed is None and fmt == "json" else 200,
    )


def _distributions(at: TableVersion, spread: FileSpread | None) -> Distributions | None:
    if spread is None:
        return None
    sizes = at.table.summary.get("size_histogram") if at.is_latest else None
    return Distributions(sizes=sizes, spread=spread)


def _pictures(
    request: HttpRequest,
    at: TableVersion,
    listed: ListedFiles | None,
    spread: FileSpread | None,
) -> Pictures:
    """Return the pictures, or sentences where these would show next to nothing.

    An exchanged part of the page has none.
    """
    if "HX-Request" in request.headers or listed is None or spread is None:
        return Pictures()
    words = spread_words(listed)
    target = target_bytes_of(at)
    small_bytes = target // files.SMALL_SHARE if target else None
    ages, rows = spread.ages, spread.rows
    return Pictures(
        words=words,
        chart=None if words.sizes else sizes_chart(at, listed.files, height=SMALL),
        ages_chart=sizes_by_age(ages, small_bytes=small_bytes, height=SMALL)
        if ages and not words.ages
        else None,
        rows_chart=rows_per_file(rows, height=SMALL)
        if rows and not words.rows
        else None,
    )


def _share(request: HttpRequest, share: files.PartitionShare) -> dict[str, object]:
    """Return a partition as its row shows it, linked to its files."""
    options = [
        column if value is None else f"{column}={value}"
        for column, value in share.values
    ]
    return {
        "text": " / ".join(named_value(*pair) for pair in share.values),
        "names": [value for _, value in share.values],
        "options": options,
        "url": only(request, "partition", options),
        "num_files": share.num_files,
        "average_bytes": share.average_bytes,
        "size_bytes": share.size_bytes,
        "percent": share.percent,
    }


def _chips(request: HttpRequest, wanted: FileFilter) -> list[Chip]:
    chips = []
    for column, value in wanted.partitions:
        raw = column if value is None else f"{column}={value}"
        shown = f"{column} is null" if not value else raw
        chips.append(Chip(text=shown, url=without(request, "partition", raw)))
    for name, words in (("min", "at least"), ("max", "at most")):
        if text := request.GET.get(name):
            shown = size_text(int(text)) if text.isascii() and text.isdigit() else text
            chips.append(Chip(text=f"{words} {shown}", url=without(request, name)))
    if wanted.has_stats is not None:
        words = "with" if wanted.has_stats else "without"
        chips.append(Chip(text=f"{words} row counts", url=without(request, "stats")))
    if wanted.has_vector is not None:
        words = "with" if wanted.has_vector else "without"
        text = f"{words} deletion vectors"
        chips.append(Chip(text=text, url=without(request, "dv")))
    return chips


table_read(
    "/files",
    "TableFiles",
    "file-list",
    FileList,
    "List the files of a version.",
    waits=True,
)
