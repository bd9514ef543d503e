"""The partitions of a table: what each holds, and how evenly."""

from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.explorer import distribution_charts
from apps.explorer.forms import PartitionFilter, QueryError, parse_partition_filter
from apps.explorer.selectors import partitions
from apps.explorer.selectors.listed import ListedFiles
from apps.explorer.selectors.partitions_grid import partition_grid
from apps.explorer.selectors.partitions_treemap import (
    HEIGHT,
    Tile,
    partition_tiles,
    tiles_note,
)
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.views.job_errors import check_job
from apps.explorer.views.listed import described_job, listed_files, not_ready
from apps.pages.links import Chip, changed, without
from apps.pages.responses import respond
from apps.pages.sorting import Column, sort_headers

COLUMNS: Final = (
    Column(key="values", label="Partition"),
    Column(key="files", label="Files", begins_reversed=True, css="dw-r"),
    Column(key="bytes", label="Size", begins_reversed=True, css="dw-r"),
    Column(key="rows", label="Rows", begins_reversed=True, css="dw-r"),
    Column(key="average", label="Mean file", begins_reversed=True, css="dw-r"),
    Column(key="modified", label="Newest file", begins_reversed=True, css="dw-r"),
    Column(label="× median", css="dw-r"),
)
PICTURES: Final = ("grid", "treemap")


@require_safe
def partition_list(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show the partitions of a version, as a picture and as a list."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    wanted = parse_partition_filter(request.GET)
    columns = list(at.metadata.partition_columns) if at.metadata else []
    listed, job = (
        listed_files(request, at, waits=fmt == "csv") if columns else (None,) * 2
    )
    if fmt != "html":
        check_job(job)
    if fmt == "csv" and columns and listed is None:
        raise not_ready(at, job)
    context, data = _parts(request, at, wanted, columns, listed)
    next_url = context.get("next_url", "")
    totals = context.pop("totals", None)
    return respond(
        request,
        fmt,
        template="explorer/partition_list.html",
        fragment="partitions",
        context={
            "at": at,
            "head": at.head,
            "table": at.table,
            "wanted": wanted,
            "columns": columns,
            "job": job,
            "chips": _chips(request, wanted),
            "headers": sort_headers(request, COLUMNS, wanted.sort),
            "partitions_raw": request.GET.getlist("partition"),
            **context,
        },
        data={
            **at.describe(),
            "partition_columns": columns,
            "next": request.build_absolute_uri(next_url) if next_url else None,
            "job": described_job(job),
            **data,
        },
        rows=()
        if totals is None
        else partitions.partition_rows(totals, wanted, columns),
        status=202 if job and listed is None and fmt == "json" else 200,
    )


def _parts(
    request: HttpRequest,
    at: TableVersion,
    wanted: PartitionFilter,
    columns: list[str],
    listed: ListedFiles | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the page shows of the partitions, and what its JSON form tells."""
    if listed is None:
        return {}, {"count": None, "skew": None, "partitions": []}
    totals = partitions.kept_totals(listed, columns)
    skew = partitions.partition_skew(totals)
    page = partitions.partition_page(
        totals, wanted, columns, skew.median_bytes if skew else 0
    )
    previous, following = page.previous_page, page.next_page
    context: dict[str, Any] = {
        "totals": totals,
        "page": page,
        "skew": skew,
        "rows": [
            {"partition": partition, "url": _files_url(at, partition)}
            for partition in page.partitions
        ],
        "next_url": changed(request, page=following) if following else "",
        "previous_url": changed(request, page=previous) if previous else "",
    }
    if skew and "HX-Request" not in request.headers:
        context |= _pictures(request, at, columns, totals)
        context["lorenz"] = distribution_charts.lorenz(skew)
    data = {
        "count": page.num_matching,
        "num_partitions": page.num_partitions,
        "matching_bytes": page.matching_bytes,
        "skew": skew.describe() if skew else None,
        "partitions": [partition.describe() for partition in page.partitions],
    }
    return context, data


def _pictures(
    request: HttpRequest,
    at: TableVersion,
    columns: list[str],
    totals: Any,  # noqa: ANN401 (an Arrow table)
) -> dict[str, Any]:
    """Return the picture asked for: a grid where one is possible, else tiles."""
    asked = request.GET.get("picture", "")
    if asked and asked not in PICTURES:
        raise QueryError(part="picture", expected=f"one of {', '.join(PICTURES)}")
    grid = partition_grid(totals, columns)
    links = [
        {
            "label": label,
            "url": changed(request, picture=picture, page=None),
            "current": (asked or "grid") == picture,
        }
        for picture, label in (("grid", "Grid"), ("treemap", "Treemap"))
    ]
    if grid and asked != "treemap":
        return {"chart": distribution_charts.partition_heatmap(grid), "pictures": links}
    tiles = partition_tiles(totals, columns)
    return {
        "tiles_note": tiles_note(totals, tiles),
        "tiles": [_tile(at, tile) for tile in tiles],
        "tiles_height": HEIGHT,
        "pictures": links if grid else [],
    }


def _tile(at: TableVersion, tile: Tile) -> dict[str, object]:
    partition = tile.partition
    text = values_text(partition) if partition else ""
    return {
        "tile": tile,
        "url": _files_url(at, partition) if partition else "",
        "text": text,
        "label": tile.fitted(text or f"{tile.num_partitions:,} others"),
    }


def values_text(partition: partitions.Partition) -> str:
    """Return the values of a partition on one line."""
    return " / ".join(
        "null" if value is None else value for _, value in partition.values
    )


def _files_url(at: TableVersion, partition: partitions.Partition) -> str:
    """Return the list of the partition's files; nothing where no address names them."""
    if partition.is_cut:
        return ""
    table = at.table
    query = [
        ("partition", column if value is None else f"{column}={value}")
        for column, value in partition.values
    ]
    if not at.is_latest:
        query.append(("v", str(at.version)))
    url = reverse("explorer:file-list", args=[table.namespace, table.name])
    return f"{url}?{urlencode(query)}"


def _chips(request: HttpRequest, wanted: PartitionFilter) -> list[Chip]:
    chips = []
    for column, value in wanted.partitions:
        raw = column if value is None else f"{column}={value}"
        shown = raw if value else f"{column} is null"
        chips.append(Chip(text=shown, url=without(request, "partition", raw)))
    if wanted.text:
        chips.append(Chip(text=f"“{wanted.text}”", url=without(request, "q")))
    return chips
