"""The partitions of a table: what each holds, and how evenly."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

import plotly.graph_objects as go
import pyarrow as pa
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from apps.explorer.drawing import (
    MAX_TICK,
    as_written,
    cells_figure,
    plain_figure,
    scale_of,
)
from apps.explorer.files.chart import MAX_TABLE_ROWS
from apps.explorer.files.listing import listed_files, not_ready
from apps.explorer.partitions import selector as partitions
from apps.explorer.partitions.grid import (
    NO_VALUE,
    PartitionGrid,
    partition_grid,
)
from apps.explorer.partitions.selector import (
    PartitionFilter,
    Skew,
    parse_partition_filter,
)
from apps.explorer.partitions.treemap import (
    HEIGHT,
    Tile,
    partition_tiles,
    tiles_note,
)
from apps.explorer.version.listed import ListedFiles
from apps.explorer.version.page import JobOfPage, TablePage
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_columns
from apps.jobs.models import Job
from apps.pages.figures import ACCENT, MIN_BARS, Chart
from apps.pages.lists.links import Chip, changed, without
from apps.pages.lists.paging import PageLinks, page_links
from apps.pages.lists.sorting import Column, Header, sort_headers
from apps.pages.page_json import OnPage, Spread
from apps.pages.request.parameters import QueryError
from apps.pages.responses import respond_page
from apps.tables.head.job_json import check_job
from deltaweb.words import bytes_text, counted

PHONE_WIDTH: Final = 270.0  # px of a picture there


LETTER_WIDTH: Final = 6.4  # px, of an axis


def partition_heatmap(grid: PartitionGrid) -> Chart:
    """Draw the bytes of partitions, a cell a pair of labels."""
    texts = [
        [
            ""
            if size is None
            else f"{bytes_text(size, digits=3)}, {counted(files, 'file')}"
            for size, files in zip(sizes, counts, strict=True)
        ]
        for sizes, counts in zip(grid.size_bytes, grid.num_files, strict=True)
    ]
    figure = plain_figure(
        [cells_figure(grid.across, grid.down, grid.size_bytes, texts)],
        xaxis={
            "type": "category",
            "nticks": _label_count(grid.across),
            "showline": False,
            "tickangle": 0,
            "labelalias": _short_labels(grid.across),
        },
        yaxis={
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "nticks": 16,
            "labelalias": _short_labels(grid.down),
        },
    )
    cells = sorted(
        (
            (f"{down} / {across}", size, files)
            for down, sizes, counts in zip(
                grid.down, grid.size_bytes, grid.num_files, strict=True
            )
            for across, size, files in zip(grid.across, sizes, counts, strict=True)
            if size is not None
        ),
        key=lambda cell: -cell[1],
    )
    return Chart(
        name="partition-grid",
        label=f"Bytes of partitions: {grid.caption}, {len(cells):,} cells",
        figure=figure,
        header=("Cell", "Bytes", "Files"),
        rows=cells[:MAX_TABLE_ROWS],
        note="; ".join(part for part in (grid.caption, grid.note) if part),
        height="x-plot-l",
        scale=scale_of(grid.size_bytes, by_rows=False),
    )


def _label_count(labels: Sequence[str]) -> int:
    """Return how many labels stand side by side on a phone, at most 10."""
    longest = max((min(len(label), MAX_TICK) for label in labels), default=1)
    return min(max(int(PHONE_WIDTH / (longest * LETTER_WIDTH)), 2), 10)


def _short_labels(labels: Sequence[str]) -> dict[str, str]:
    """Return what an axis writes instead of labels that would take all its room."""
    return {
        as_written(label): as_written(label[: MAX_TICK - 1] + "…")
        for label in labels
        if len(label) > MAX_TICK
    }


def lorenz(skew: Skew) -> Chart:
    """Draw the share of bytes that the smallest partitions have together."""
    ends = [0, 100]
    even = go.Scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": "var(--dw-line-strong)", "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    line = go.Scatter(
        x=[point[0] for point in skew.lorenz],
        y=[point[1] for point in skew.lorenz],
        mode="lines",
        line={"color": ACCENT, "width": 1.75},
        fill="tozeroy",
        fillcolor="var(--x-area)",
        hovertemplate="the smallest %{x:.0f} % of partitions"
        "<br>have %{y:.1f} % of the bytes<extra></extra>",
    )
    figure = plain_figure(
        [even, line],
        xaxis={"range": [0, 101], "ticksuffix": " %", "dtick": 25},
        yaxis={"range": [0, 102], "ticksuffix": " %", "dtick": 25},
    )
    rows = [(f"smallest {share:.0f} %", round(has)) for share, has in skew.lorenz]
    return Chart(
        name="lorenz",
        label=f"Bytes of the smallest partitions together; Gini {skew.gini}",
        figure=figure,
        header=("Partitions", "Percent of bytes"),
        rows=rows[:: max(len(rows) // 20, 1)],
        note="dotted: all equal",
        height="x-plot-m",
    )


COLUMNS: Final = (
    Column(key="values", label="Partition"),
    Column(key="files", label="Files", begins_descending=True, css="dw-r"),
    Column(key="bytes", label="Size", begins_descending=True, css="dw-r"),
    Column(key="rows", label="Rows", begins_descending=True, css="dw-r"),
    Column(key="average", label="Mean file", begins_descending=True, css="dw-r"),
    Column(key="modified", label="Newest file", begins_descending=True, css="dw-r"),
    Column("", "× median", css="dw-r"),
)
PICTURES: Final = ("grid", "treemap")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A grid of the partitions, or tiles, and the links between both."""

    chart: Chart | None = None
    tiles_note: str = ""
    tiles: Sequence[dict[str, object]] = ()
    tiles_height: float = HEIGHT
    pictures: Sequence[dict[str, object]] = ()


@dataclass(frozen=True, kw_only=True)
class PartitionList(TablePage):
    """The partitions of a version; without `page` a job still lists its files."""

    page: Spread[partitions.PartitionPage | None] = None
    partition_columns: Sequence[str]
    links: Spread[PageLinks] = field(default_factory=PageLinks)
    job: JobOfPage
    skew: partitions.Skew | None = None
    wanted: OnPage[PartitionFilter]
    chips: OnPage[Sequence[Chip]]
    headers: OnPage[Sequence[Header]]
    partitions_raw: OnPage[Sequence[str]]
    listed: OnPage[Sequence[dict[str, object]]] = ()
    totals: OnPage[pa.Table | None] = None
    drawn: OnPage[Picture] = field(default_factory=Picture)
    lorenz: OnPage[Chart | None] = None


def partition_list(
    request: HttpRequest, at: TableVersion, fmt: str
) -> HttpResponseBase:
    """Show the partitions of a version, as a picture and as a list."""
    wanted = parse_partition_filter(request.GET)
    columns = list(at.metadata.partition_columns) if at.metadata else []
    listed, job = (
        listed_files(request, at, waits=fmt == "csv") if columns else (None,) * 2
    )
    if fmt != "html":
        check_job(job)
    if fmt == "csv" and columns and listed is None:
        raise not_ready(at, job)
    page = _partitions(request, at, wanted, columns, listed, job)
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/partitions/partition_list.html",
        fragment="partitions",
        rows=()
        if page.totals is None
        else partitions.partition_rows(
            page.totals, partitions.as_written(wanted, table_columns(at)), columns
        ),
        status=202 if job and listed is None and fmt == "json" else 200,
    )


def _partitions(  # noqa: PLR0913, PLR0917 (each is one part of the page)
    request: HttpRequest,
    at: TableVersion,
    wanted: PartitionFilter,
    columns: list[str],
    listed: ListedFiles | None,
    job: Job | None,
) -> PartitionList:
    page = PartitionList(
        at=at,
        partition_columns=columns,
        job=job,
        wanted=wanted,
        chips=_chips(request, wanted),
        headers=sort_headers(request, COLUMNS, wanted.sort),
        partitions_raw=request.GET.getlist("partition"),
    )
    if listed is None:
        return page
    schema = table_columns(at)
    totals = partitions.kept_totals(listed, columns, schema)
    skew = partitions.partition_skew(totals)
    found = partitions.partition_page(
        totals,
        partitions.as_written(wanted, schema),
        columns,
        skew.median_bytes if skew else 0,
    )
    is_whole = "HX-Request" not in request.headers
    has_pictures = skew and skew.num_partitions >= MIN_BARS and is_whole
    return replace(
        page,
        page=found,
        totals=totals,
        skew=skew,
        listed=[
            {"partition": partition, "url": _files_url(at, partition)}
            for partition in found.partitions
        ],
        links=page_links(request, found.paged),
        drawn=_picture(request, at, columns, totals) if has_pictures else Picture(),
        lorenz=lorenz(skew) if skew and has_pictures else None,
    )


def _picture(
    request: HttpRequest,
    at: TableVersion,
    columns: list[str],
    totals: Any,  # noqa: ANN401 (an Arrow table)
) -> Picture:
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
        return Picture(chart=partition_heatmap(grid), pictures=links)
    tiles = partition_tiles(totals, columns)
    return Picture(
        tiles_note=tiles_note(totals, tiles),
        tiles=[_tile(at, tile) for tile in tiles],
        pictures=links if grid else [],
    )


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
        NO_VALUE if value is None else value for _, value in partition.values
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


table_read(
    "/partitions",
    "TablePartitions",
    "partition-list",
    PartitionList,
    "List the partitions of a version.",
    waits=True,
)
