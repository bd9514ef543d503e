"""The head of the pages of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property

from django.db.models import Min, Q
from django.utils import timezone

from apps.jobs.models import Job
from apps.jobs.services import bring_forward
from apps.pages.lists.round_times import round_times
from apps.tables.index.refresh import REFRESH
from apps.tables.models import Commit, MissingFiles, Table
from apps.tables.models.schedules import schedule_words
from apps.tables.versions.missing_files import missing_files_of
from apps.tables.versions.timeline import Tick, Timeline, build_timeline
from apps.tables.work.check_files import CHECK_FILES
from deltaweb.delta.features.known.readings import FeatureReaders, feature_readers
from deltaweb.delta.features.registry import refused_features
from deltaweb.delta.log.versions import OF_FILES

NUM_TICKS = 5
TIMES = "H:i"  # below a timeline of one day, as Django's filter `date` has it
MENU_LENGTH = 8  # newest versions in the version menu


@dataclass(frozen=True, kw_only=True)
class TableHead:
    """The head of every page of a table, at the version that the page shows.

    What it shows is asked for when it is shown: a part of a page has no head.

    Attributes:
        version: The version shown; None before the first index.
    """

    table: Table
    version: int | None

    @property
    def is_latest(self) -> bool:
        return self.version == self.table.version

    @property
    def commits_behind(self) -> int:
        """How many versions the newest one is ahead."""
        return (self.table.version or 0) - (self.version or 0)

    @cached_property
    def timeline(self) -> Timeline | None:
        """The version timeline; None before the first index."""
        if self.version is None or self.table.version is None:
            return None
        return build_timeline(
            self.table.summary, latest=self.table.version, shown=self.version
        )

    # === Commits ===

    @property
    def commit(self) -> Commit | None:
        return None if self.version is None else self._commits.get(self.version)

    @property
    def newest(self) -> list[Commit]:
        first = (self.table.version or 0) - MENU_LENGTH
        return [one for one in self._commits.values() if one.version > first]

    @cached_property
    def ticks(self) -> list[Tick]:
        """Dates below the timeline."""
        if self.timeline is None:
            return []
        commits = self._commits
        marks = [v for v in _tick_versions(self.timeline) if v in commits]
        return self.timeline.ticks({v: commits[v].committed_at for v in marks})

    def ticks_within_a_day(self, zone: tzinfo) -> list[Tick]:
        """Round times below a timeline of one day, each at the first version after."""
        first, last = self.first_at, self.table.committed_at
        if self.timeline is None or first is None or last is None:
            return []
        times = round_times(
            first.astimezone(zone), last.astimezone(zone), most=NUM_TICKS
        )
        marks = {
            f"tick_{number}": Min("version", filter=Q(committed_at__gte=time))
            for number, time in enumerate(times)
        }
        commits = self.table.commits.filter(version__gte=self.timeline.first)
        found = commits.aggregate(**marks) if marks else {}
        at = {
            version: time
            for version, time in zip(found.values(), times, strict=True)
            if version is not None
        }
        return self.timeline.ticks(at)

    @property
    def first_at(self) -> datetime | None:
        """When the timeline's first version was committed, if known."""
        first = self._commits.get(self.timeline.first) if self.timeline else None
        return first.committed_at if first else None

    @cached_property
    def missing(self) -> MissingFiles | None:
        """What the version shown lacks, as far as is known; None without."""
        return _missing(self.table, self.timeline) if self.timeline else None

    @cached_property
    def _commits(self) -> dict[int, Commit]:
        return _commits(self.table, self.timeline) if self.timeline else {}

    # === Jobs ===

    @property
    def index_job(self) -> Job | None:
        """The job that indexes the table now, or None.

        A job that has ended since the table was read counts as well: the page would
        not hear of its end any more.
        """
        newest = next(iter(self._index_jobs), None)
        if newest is not None and self._was_read_before(newest):
            return newest
        return next((job for job in self._index_jobs if job.is_active), None)

    def _was_read_before(self, job: Job) -> bool:
        """Whether the table was read before an index job stored its newest version."""
        version, indexed_at = self.table.version, self.table.indexed_at
        if job.state != Job.State.DONE or version is None or indexed_at is None:
            return False
        stored = (job.result or {}).get("version")
        is_newer = isinstance(stored, int) and stored > version
        return is_newer and job.finished_at is not None and job.finished_at > indexed_at

    @property
    def failed_job(self) -> Job | None:
        """The newest index job where it failed and nothing came after it."""
        newest = next(iter(self._index_jobs), None)
        has_failed = newest is not None and newest.state == Job.State.FAILED
        return newest if has_failed and self.index_job is None else None

    @property
    def check_job(self) -> Job | None:
        """The job that checks the data files now, or None."""
        jobs = (job for job in self._jobs if job.kind == CHECK_FILES.name)
        return next(jobs, None)

    @property
    def _index_jobs(self) -> list[Job]:
        return [job for job in self._jobs if job.kind == REFRESH.name]

    @cached_property
    def _jobs(self) -> list[Job]:
        return _head_jobs(self.table)

    @cached_property
    def unread(self) -> Sequence[FeatureReaders]:
        """For which features the newest version is not read, and who reads them."""
        return _unread(self.table) if self.version is not None else ()

    @property
    def is_lacking(self) -> bool:
        """Whether the version shown is not whole any more, or not at all there."""
        run = self.timeline.shown_run if self.timeline else None
        return run is not None and run.state in {*OF_FILES, Commit.Readability.GONE}

    @property
    def checked_at(self) -> datetime | None:
        """When storage was asked for newer versions since; None where it was not."""
        probed, indexed = self.table.probed_at, self.table.indexed_at
        return probed if probed and indexed and probed > indexed else None

    @property
    def stale(self) -> bool:
        """Whether storage holds a newer version than the pages show."""
        return self.table.is_stale

    def date_formats(self, *, today: date, zone: tzinfo = UTC) -> tuple[str, str]:
        """How the first date below the timeline and the others are written.

        They are formats of Django's filter `date`, as short as is still clear: times
        within one day; years where it spans more than one, or another than today's.

        Args:
            zone: In which days begin.
        """
        first, last = self.first_at, self.table.committed_at
        if first is None or last is None:
            return "j M Y", "j M Y"
        first, last = first.astimezone(zone), last.astimezone(zone)
        if first.year != last.year:
            return "j M Y", "j M Y"
        day = "j M" if last.year == today.year else "j M Y"
        if first.date() == last.date():
            return f"{day}, {TIMES}", TIMES
        return day, day

    @property
    def schedule(self) -> str:
        """How often it is refreshed, in words; "" where that is as everywhere."""
        interval_s = self.table.refresh_interval_s
        return "" if interval_s is None else schedule_words(interval_s)


def table_head(table: Table, version: int | None = None) -> TableHead:
    """Return the head of a table's pages, which is shown by two queries.

    Args:
        version: The version shown, from `requested_version`; None is the newest.
    """
    shown = table.version if version is None else version
    head = TableHead(table=table, version=None if table.version is None else shown)
    if head.version is None and head.index_job is not None:
        bring_forward(head.index_job, now=timezone.now())
    return head


def _head_jobs(table: Table) -> list[Job]:
    """Return the newest index jobs of a table, and the check of its files that runs."""
    is_index = Q(kind=REFRESH.name)
    is_check = Q(kind=CHECK_FILES.name, state__in=Job.ACTIVE_STATES)
    jobs = Job.objects.filter(is_index | is_check, subject_id=table.id)
    return list(jobs.defer("log", "error_detail").order_by("-created_at")[:3])


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
