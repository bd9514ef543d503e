"""A table by its name, the version that a page asks for, and the head of its pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.utils import timezone

from deltaweb.delta.features.readers import FeatureReaders, feature_readers
from deltaweb.delta.features.registry import refused_features
from deltaweb.delta.log.versions import OF_FILES
from deltaweb.web.accounts.models import User
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.services import bring_forward
from deltaweb.web.pages.errors import PageError
from deltaweb.web.tables.index.refresh import REFRESH
from deltaweb.web.tables.models import Commit, MissingFiles, Table
from deltaweb.web.tables.models.schedules import schedule_words
from deltaweb.web.tables.versions.missing_files import missing_files_of
from deltaweb.web.tables.versions.timeline import Tick, Timeline, build_timeline
from deltaweb.web.tables.work.check_files import CHECK_FILES

NUM_TICKS = 5
MENU_LENGTH = 8  # newest versions in the version menu
MAX_DIGITS = len(str(2**63))  # of a version


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHead:
    """The head of every page of a table, at the version that the page shows.

    Attributes:
        version: The version shown; None before the first index.
        is_latest: Whether that is the newest indexed version.
        newest: The newest commits, newest first, for the version menu.
        commits_behind: How many versions the newest one is ahead.
        timeline: The version timeline; None before the first index.
        ticks: Dates below the timeline.
        first_at: When the timeline's first version was committed, if known.
        index_job: The job that indexes the table now, or None.
        failed_job: The newest index job where it failed and nothing came after it.
        check_job: The job that checks the data files now, or None.
        missing: What the version shown lacks, as far as is known; None without.
        unread: The features for which the newest version is not read, and who reads
            them.
    """

    table: Table
    version: int | None
    is_latest: bool
    commit: Commit | None
    newest: list[Commit]
    commits_behind: int
    timeline: Timeline | None
    ticks: list[Tick]
    first_at: datetime | None
    index_job: Job | None
    failed_job: Job | None
    check_job: Job | None = None
    missing: MissingFiles | None = None
    unread: Sequence[FeatureReaders] = ()

    @property
    def is_lacking(self) -> bool:
        """Whether the version shown is not whole any more, or not at all there."""
        run = self.timeline.shown_run if self.timeline else None
        return run is not None and run.state in {*OF_FILES, Commit.Readability.GONE}

    @property
    def indexed_at(self) -> datetime | None:
        return self.table.indexed_at

    @property
    def checked_at(self) -> datetime | None:
        """When storage was asked for newer versions since; None where it was not."""
        probed, indexed = self.table.probed_at, self.table.indexed_at
        return probed if probed and indexed and probed > indexed else None

    @property
    def stale(self) -> bool:
        """Whether storage holds a newer version than the pages show."""
        return self.table.is_stale

    def date_formats(self, *, today: date) -> tuple[str, str]:
        """How the first date below the timeline and the others are written.

        They are formats of Django's filter `date`, as short as is still clear: times
        within one day; years where it spans more than one, or another than today's.
        """
        first, last = self.first_at, self.table.committed_at
        if first is None or last is None or first.year != last.year:
            return "j M Y", "j M Y"
        day = "j M" if last.year == today.year else "j M Y"
        if first.date() == last.date():
            return f"{day}, H:i", "H:i"
        return day, day

    @property
    def schedule(self) -> str:
        """How often it is refreshed, in words; "" where that is as everywhere."""
        interval_s = self.table.refresh_interval_s
        return "" if interval_s is None else schedule_words(interval_s)


def get_table(user: User | AnonymousUser, namespace: str, name: str) -> Table:
    """Return a table that `user` may see."""
    tables = Table.objects.visible_to(user).filter(namespace=namespace, name=name)
    table = tables.first() if "\x00" not in namespace + name else None
    if table is None:
        full_name = name if namespace == "default" else f"{namespace}.{name}"
        raise PageError(
            status=404,
            code="table-not-found",
            message=f"No table is named {full_name}.",
            hint="The catalog lists the tables that you can see.",
        )
    return table


def requested_version(table: Table, text: str) -> int | None:
    """Return the version that `?v=` asks for; the newest indexed one for ""."""
    if not text:
        return table.version
    first, latest = _version_range(table)
    digits = text.strip()
    known = digits.isascii() and digits.isdigit() and len(digits) < MAX_DIGITS
    if latest is None:
        raise PageError(
            status=404,
            code="version-not-found",
            message=f"{table.full_name} is not indexed yet: no version can be shown."
            if not table.error
            else f"No version of {table.full_name} could be indexed: {table.error}",
            hint=table.error_hint
            or "Wait for its index, or open the table without a version.",
            way_out=("To the table", table.get_absolute_url()),
        )
    if not known or not first <= int(digits) <= latest:
        raise PageError(
            status=404,
            code="version-not-found",
            message=f"{table.full_name} has no version {text[:40]!r}.",
            hint=f"Choose a version from {first} to {latest}.",
            way_out=(f"To version {latest}, the newest", table.get_absolute_url()),
        )
    return int(digits)


def table_head(table: Table, version: int | None = None) -> TableHead:
    """Return the head of a table's pages, by two queries.

    Args:
        version: The version shown, from `requested_version`; None is the newest.
    """
    found = _head_jobs(table)
    jobs = [job for job in found if job.kind == REFRESH.name]
    check_job = next((job for job in found if job.kind == CHECK_FILES.name), None)
    index_job = next((job for job in jobs if job.state in Job.ACTIVE_STATES), None)
    has_failed = jobs and not index_job and jobs[0].state == Job.State.FAILED
    failed = jobs[0] if has_failed else None
    shown = table.version if version is None else version
    if shown is None or table.version is None:
        if index_job is not None:
            bring_forward(index_job, now=timezone.now())
        return TableHead(
            table=table,
            version=None,
            is_latest=True,
            commit=None,
            newest=[],
            commits_behind=0,
            timeline=None,
            ticks=[],
            first_at=None,
            index_job=index_job,
            failed_job=failed,
            check_job=check_job,
        )
    timeline = build_timeline(table.summary, latest=table.version, shown=shown)
    commits = _commits(table, timeline)
    marks = _tick_versions(timeline)
    first = commits.get(timeline.first)
    return TableHead(
        table=table,
        version=shown,
        is_latest=shown == table.version,
        commit=commits.get(shown),
        newest=[
            commit
            for commit in commits.values()
            if commit.version > table.version - MENU_LENGTH
        ],
        commits_behind=table.version - shown,
        timeline=timeline,
        ticks=timeline.ticks(
            {v: commits[v].committed_at for v in marks if v in commits}
        ),
        first_at=first.committed_at if first else None,
        index_job=index_job,
        failed_job=failed,
        check_job=check_job,
        missing=_missing(table, timeline),
        unread=_unread(table),
    )


def _version_range(table: Table) -> tuple[int, int | None]:
    """Return the first version that is known of and the newest indexed one."""
    runs = table.summary.get("readable_runs") or [[0]]
    first = runs[0][0] if isinstance(runs[0], list) and runs[0] else 0
    return (first if isinstance(first, int) else 0), table.version


def _head_jobs(table: Table) -> list[Job]:
    """Return the newest index jobs of a table, and the check of its files that runs."""
    is_index = Q(kind=REFRESH.name)
    is_check = Q(kind=CHECK_FILES.name, state__in=Job.ACTIVE_STATES)
    jobs = Job.objects.filter(is_index | is_check, subject_id=table.id)
    return list(jobs.defer("log", "error_detail", "result").order_by("-created_at")[:3])


def _unread(table: Table) -> list[FeatureReaders]:
    if table.state != Table.State.UNSUPPORTED:
        return []
    metadata, protocol = (
        table.metadata_versions.first(),
        table.protocol_versions.first(),
    )
    if metadata is None or protocol is None:
        return []
    return feature_readers(refused_features(protocol.as_action(), metadata.as_action()))


def _missing(table: Table, timeline: Timeline) -> MissingFiles | None:
    if timeline.shown_run.state not in OF_FILES:
        return None
    return missing_files_of(table, [timeline.shown]).get(timeline.shown)


def _tick_versions(timeline: Timeline) -> list[int]:
    step = timeline.num_versions / (NUM_TICKS + 1)
    marks = {timeline.first + round(step * mark) for mark in range(1, NUM_TICKS + 1)}
    return sorted(marks - {timeline.first, timeline.last})


def _commits(table: Table, timeline: Timeline) -> dict[int, Commit]:
    """Return the commits that the head names, newest first, by one query."""
    wanted = {timeline.first, timeline.shown, *_tick_versions(timeline)}
    newest = Q(version__gt=timeline.last - MENU_LENGTH)
    commits = table.commits.filter(Q(version__in=wanted) | newest)
    ordered = commits.defer("parameters", "metrics").order_by("-version")
    return {commit.version: commit for commit in ordered}
