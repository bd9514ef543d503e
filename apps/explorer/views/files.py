"""The files of a table."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from apps.explorer import distribution_charts
from apps.explorer.forms import FileFilter, parse_file_filter
from apps.explorer.selectors import files
from apps.explorer.selectors.distributions import FileSpread, file_spread
from apps.explorer.selectors.listed import ListedFiles
from apps.explorer.selectors.overview import sizes_chart, target_bytes_of
from apps.explorer.selectors.spread_words import SpreadWords, spread_words
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.views.job_errors import check_job
from apps.explorer.views.listed import described_job, listed_files, not_ready
from apps.pages.figures import Chart
from apps.pages.links import Chip, changed, only, without
from apps.pages.responses import respond
from apps.pages.sorting import Column, sort_headers
from deltaweb.index.history.commit_facts import size_text

MAX_PARTITIONS = 20
SMALL = "x-plot-xs"
COLUMNS = (
    Column(key="path", label="Path"),
    Column(key="size", label="Size", begins_reversed=True, css="dw-r"),
    Column(key="rows", label="Rows", begins_reversed=True, css="dw-r"),
    Column(key="modified", label="Modified", begins_reversed=True, css="dw-r"),
)


@require_safe
def file_list(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """List the files of a version; those of an older one come from a job."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    wanted = parse_file_filter(request.GET)
    listed, job = listed_files(request, at, waits=fmt == "csv")
    columns = _partition_columns(at)
    page = None if listed is None else files.file_page(listed.files, wanted, columns)
    shares = files.partition_shares(at.table, columns) if at.is_latest else []
    spread = None if listed is None or fmt == "csv" else file_spread(listed)
    next_url = changed(request, page=page.next_page) if page and page.next_page else ""
    if fmt != "html":
        check_job(job)
    if fmt == "csv" and listed is None:
        raise not_ready(at, job)
    return respond(
        request,
        fmt,
        template="explorer/file_list.html",
        fragment="files",
        context={
            "at": at,
            "head": at.head,
            "table": at.table,
            "wanted": wanted,
            "page": page,
            "job": job,
            "chips": _chips(request, wanted),
            "headers": sort_headers(request, COLUMNS, wanted.sort),
            "next_url": next_url,
            "previous_url": changed(request, page=page.previous_page)
            if page and page.previous_page
            else "",
            "partition_columns": columns,
            "shares": [_share(request, share) for share in shares[:MAX_PARTITIONS]],
            "partitions_raw": request.GET.getlist("partition"),
            "num_partitions": at.table.summary.get("num_partitions"),
            **_charts(request, at, listed, spread),
        },
        data={
            **at.describe(),
            "count": page.num_matching if page else None,
            "next": request.build_absolute_uri(next_url) if next_url else None,
            "job": described_job(job),
            "num_files": page.num_files if page else None,
            "matching_bytes": page.matching_bytes if page else None,
            "files": [file.describe() for file in page.files] if page else [],
            "partitions": [share.describe() for share in shares],
            "distributions": _distributions(at, spread),
        },
        rows=() if listed is None else files.file_rows(listed.files, wanted, columns),
        status=202 if job and listed is None and fmt == "json" else 200,
    )


def _partition_columns(at: TableVersion) -> Sequence[str]:
    return at.metadata.partition_columns if at.metadata else []


def _distributions(
    at: TableVersion, spread: FileSpread | None
) -> dict[str, object] | None:
    """Return how the files are spread, as the JSON form tells it."""
    if spread is None:
        return None
    sizes = at.table.summary.get("size_histogram") if at.is_latest else None
    return {"sizes": sizes, **spread.describe()}


def _charts(
    request: HttpRequest,
    at: TableVersion,
    listed: ListedFiles | None,
    spread: FileSpread | None,
) -> dict[str, Chart | SpreadWords | None]:
    """Return the pictures, or sentences where these would show next to nothing.

    An exchanged part of the page has none.
    """
    if "HX-Request" in request.headers or listed is None or spread is None:
        return {}
    words = spread_words(listed)
    target = target_bytes_of(at)
    small_bytes = target // files.SMALL_SHARE if target else None
    ages, rows = spread.ages, spread.rows
    return {
        "words": words,
        "chart": None if words.sizes else sizes_chart(at, listed.files, height=SMALL),
        "ages_chart": distribution_charts.sizes_by_age(
            ages, small_bytes=small_bytes, height=SMALL
        )
        if ages and not words.ages
        else None,
        "rows_chart": distribution_charts.rows_per_file(rows, height=SMALL)
        if rows and not words.rows
        else None,
    }


def _share(request: HttpRequest, share: files.PartitionShare) -> dict[str, object]:
    """Return a partition as its row shows it, linked to its files."""
    options = [
        column if value is None else f"{column}={value}"
        for column, value in share.values
    ]
    return {
        "text": " / ".join(
            f"{column}={'null' if value is None else value}"
            for column, value in share.values
        ),
        "names": ["null" if value is None else value for _, value in share.values],
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
    return chips
