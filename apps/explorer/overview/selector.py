"""The first page of a table: what it holds, how it got there, what it is made of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated

import pyarrow as pa
from django.db.models import F, Q
from django.db.models.functions import Mod

from apps.explorer.columns.tree import SchemaTree, version_tree
from apps.explorer.history import selector as history
from apps.explorer.history.chart import commits_per_day
from apps.explorer.history.selector import CommitsOfPage, row_change
from apps.explorer.overview.chart import VersionPoint, file_sizes, over_versions
from apps.explorer.version.table_version import TableVersion
from apps.pages.figures import MIN_BARS, Chart
from apps.pages.page_json import As, Named, OnPage, Spread
from apps.tables.models import Commit, ProtocolVersion, Table
from deltaweb.delta.features.known.described import Description, describe_feature
from deltaweb.delta.features.registry import refused_features
from deltaweb.delta.snapshot.checksum import Verdict
from deltaweb.index.files.distribution import size_histogram
from deltaweb.words import size_text

MAX_POINTS = 300
MIN_POINTS = 2  # a line has two ends
BOTH = 2  # files, of which people do not say all
NUM_LATEST = 6
OVERVIEW_DAYS = 30
SCHEMA_ROWS = 12
MAX_PROPERTIES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNumbers:
    """The four numbers on top; None is unknown, never 0.

    `rows_reason` says why the rows are unknown; `row_change` is what the shown commit
    changed; `target_file_bytes` is None for a table smaller than one file of that size;
    `readable_since` is where the newest run of readable versions begins.
    """

    num_files: int | None
    size_bytes: int | None
    num_records: int | None
    num_partitions: int | None
    rows_reason: OnPage[str]
    row_change: OnPage[int | None]
    average_file_bytes: OnPage[int | None]
    target_file_bytes: OnPage[int | None]
    is_below_target: OnPage[bool]
    num_readable: OnPage[int]
    num_versions: OnPage[int]
    readable_since: OnPage[int | None]

    @property
    def percent_of_target(self) -> int | None:
        """How large the average file is beside the target."""
        if not self.target_file_bytes or self.average_file_bytes is None:
            return None
        return round(100 * self.average_file_bytes / self.target_file_bytes)

    @property
    def meter_percent(self) -> int:
        return min(max(self.percent_of_target or 0, 0), 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The first page of one version of a table."""

    numbers: Spread[KeyNumbers]
    latest: Annotated[CommitsOfPage, Named("latest_commits")]
    num_commits: int
    description: str
    tree: Annotated[SchemaTree, Named("num_columns"), As(attrgetter("num_columns"))]
    properties: OnPage[tuple[tuple[str, str], ...]]
    num_more_properties: OnPage[int]
    features: OnPage[tuple[tuple[str, Description], ...]]
    checksum: Annotated[Verdict | None, As(Verdict.describe)]
    commits_chart: OnPage[Chart | None]
    sizes_chart: OnPage[Chart | None]
    sizes_words: OnPage[str]
    versions_chart: OnPage[Chart | None]


def overview(at: TableVersion, files: pa.Table | None = None) -> Overview:
    """Return the first page of a version that is indexed.

    Args:
        files: The files of an older version, where a job has listed them.
    """
    metadata = at.metadata
    version = at.version or 0
    configuration = {} if metadata is None else metadata.configuration
    properties = tuple(_properties(configuration))
    return Overview(
        numbers=key_numbers(at),
        latest=history.newest_commits(at.table, version, NUM_LATEST),
        num_commits=at.table.commits.count(),
        description=at.table.description
        or ("" if metadata is None else metadata.description),
        tree=version_tree(metadata),
        properties=properties[:MAX_PROPERTIES],
        num_more_properties=max(len(properties) - MAX_PROPERTIES, 0),
        features=protocol_features(at.protocol),
        checksum=Verdict.of_json(at.table.summary.get("checksum"))
        if at.is_latest
        else None,
        commits_chart=_commits_chart(at),
        sizes_chart=sizes_chart(at, files),
        sizes_words=sizes_words(at, files),
        versions_chart=_versions_chart(at),
    )


def key_numbers(at: TableVersion) -> KeyNumbers:
    """Return the numbers of a version, from its commit or the newest snapshot."""
    table, commit = at.table, at.commit
    sources: list[Table | Commit] = [table] if at.is_latest else []
    if commit is not None:
        sources.append(commit)
    num_files = _first(source.num_files for source in sources)
    size_bytes = _first(source.size_bytes for source in sources)
    readable = at.readable_runs
    target_bytes = _count(table, "target_file_size_bytes")
    is_below_target = _is_below(size_bytes, target_bytes)
    return KeyNumbers(
        num_records=_first(source.num_records for source in sources),
        rows_reason=_rows_reason(at, size_bytes),
        row_change=row_change(commit) if commit else None,
        size_bytes=size_bytes,
        num_files=num_files,
        num_partitions=_count(table, "num_partitions")
        if at.is_latest and table.partition_columns
        else None,
        average_file_bytes=size_bytes // num_files
        if num_files and size_bytes is not None
        else None,
        target_file_bytes=None if is_below_target else target_bytes,
        is_below_target=is_below_target,
        num_readable=sum(run.last - run.first + 1 for run in readable),
        num_versions=at.head.timeline.num_versions if at.head.timeline else 0,
        readable_since=readable[-1].first if readable else None,
    )


def target_bytes_of(at: TableVersion) -> int | None:
    """Return the size that files aim at; None where the version is smaller than one."""
    return key_numbers(at).target_file_bytes


def _is_below(size_bytes: int | None, target_bytes: int | None) -> bool:
    if size_bytes is None or target_bytes is None:
        return False
    return size_bytes < target_bytes


def _rows_reason(at: TableVersion, size_bytes: int | None) -> str:
    if (
        at.protocol is not None
        and at.metadata is not None
        and at.protocol.unsupported_reason
    ):
        features = refused_features(at.protocol.as_action(), at.metadata.as_action())
        return f"not read here: {', '.join(features) or 'its metadata has no schema'}"
    if size_bytes is None:
        return "no longer in the log"
    return "not every file has statistics"


def sizes_chart(
    at: TableVersion,
    files: pa.Table | None = None,
    *,
    height: str = "x-plot-s",
) -> Chart | None:
    """Return the histogram of a version's file sizes, as far as they are known.

    Args:
        files: Its files; the index has the sizes of the newest version's.
    """
    edges, counts = _size_histogram(at, files)
    if sum(count > 0 for count in counts) < MIN_BARS:
        return None
    return file_sizes(
        edges,
        counts,
        target_bytes=target_bytes_of(at),
        note=f"v{at.version}, exact",
        height=height,
    )


def sizes_words(at: TableVersion, files: pa.Table | None = None) -> str:
    """Say what a picture of file sizes would show by one bar; "" without sizes."""
    edges, counts = _size_histogram(at, files)
    bars = [place for place, count in enumerate(counts) if count]
    if len(bars) != 1:
        return ""
    (bar,) = bars
    many = "both" if counts[bar] == BOTH else f"all {counts[bar]:,}"
    files_text = f"{many} files have" if counts[bar] > 1 else "the one file has"
    low, high = size_text(edges[bar]), size_text(edges[bar + 1])
    sizes = f"between {low} and {high}" if edges[bar] else f"less than {high}"
    return f"{files_text[0].upper()}{files_text[1:]} {sizes}."


def _size_histogram(
    at: TableVersion, files: pa.Table | None
) -> tuple[list[int], list[int]]:
    """Return edges and counts: the index has the newest version's, if it is read."""
    histogram = at.table.summary.get("size_histogram") if at.is_latest else None
    if not (isinstance(histogram, dict) and any(histogram.get("counts", ()))):
        histogram = {} if files is None else size_histogram(files["size"])
    edges, counts = histogram.get("edges", []), histogram.get("counts", [])
    return (edges, counts) if len(edges) == len(counts) + 1 else ([], [])


def protocol_features(
    protocol: ProtocolVersion | None,
) -> tuple[tuple[str, Description], ...]:
    """Return the features that a protocol lists, by name and in plain words."""
    if protocol is None:
        return ()
    names = [*(protocol.reader_features or []), *(protocol.writer_features or [])]
    return tuple((name, describe_feature(name)) for name in dict.fromkeys(names))


def version_points(table: Table, version: int) -> list[VersionPoint]:
    """Return what the table held at up to `MAX_POINTS` of its versions."""
    step = max(version // MAX_POINTS, 1)
    rows = (
        table.commits.filter(version__lte=version)
        .annotate(phase=Mod(F("version"), step))
        .filter(Q(phase=0) | Q(version=version) | Q(changes_schema=True))
        .order_by("-version")
        .values_list("version", "num_records", "num_files", "size_bytes")
    )
    points = [
        VersionPoint(
            version=number, num_records=records, num_files=files, size_bytes=size
        )
        for number, records, files, size in rows[: 2 * MAX_POINTS]
    ]
    return points[::-1]


def _commits_chart(at: TableVersion) -> Chart | None:
    moment = at.table.committed_at if at.is_latest else None
    moment = moment or (at.commit.committed_at if at.commit else None)
    if moment is None:
        return None
    return commits_per_day(
        *history.daily_counts(at.table, up_to=moment, num_days=OVERVIEW_DAYS)
    )


def _versions_chart(at: TableVersion) -> Chart | None:
    newest = at.table.version
    if newest is None:
        return None
    points = version_points(at.table, newest)
    if sum(point.size_bytes is not None for point in points) < MIN_POINTS:
        return None
    events = at.table.summary.get("events") or []
    changes = {
        event["version"]
        for event in events
        if isinstance(event, dict) and event.get("kind") == "schema"
    }
    return over_versions(
        points,
        schema_changes=[p.version for p in points if p.version in changes],
        shown=at.version,
        note=f"{len(points):,} of {newest + 1:,} versions"
        if len(points) <= newest
        else f"{len(points):,} versions",
    )


def _properties(configuration: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the properties that the table sets, by name."""
    for key, value in sorted(configuration.items()):
        yield key, "" if value is None else str(value)


def _count(table: Table, key: str) -> int | None:
    value = table.summary.get(key)
    return value if isinstance(value, int) else None


def _first(values: Iterable[int | None]) -> int | None:
    return next((value for value in values if value is not None), None)
