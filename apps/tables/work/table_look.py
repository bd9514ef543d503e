"""Kinds of jobs that find something out about a table: a finished one is its cache."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.results import JobRows, job_rows, job_table
from apps.jobs.services import enqueue
from apps.jobs.waiting import wait_a_glance, wait_for
from apps.tables.models import Table
from apps.tables.versions.file_checks import failed_read_of
from apps.tables.versions.missing_files import missing_files_of

P = TypeVar("P")
R = TypeVar("R")

_VERSIONS: Final = ("version", "from", "to")  # parameters that are one
_COMMIT_FACTS: Final = (
    "version",
    "operation",
    "parameters",
    "metrics",
    "user_name",
    "engine_info",
    "num_added_files",
    "num_removed_files",
    "added_bytes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLook(JobKind[P, R]):
    """A kind of job that fills pages of a table; its parameters name its result.

    Attributes:
        title: What such a job is called in lists.
        is_cheap: Which of its jobs are begun for a page that is fetched ahead; none
            for None.
    """

    title: Callable[[Table, P], str]
    is_look: bool = True
    is_cheap: Callable[[Table, P], bool] | None = None

    def key(self, table: Table, parameters: P) -> str:
        """Return what equal work has in common.

        It is that of this very table: one that is made again at the same place, or a
        row that points elsewhere now, asks for other work. So does a version that
        another commit has made since: a backup was put back, and the log went on from
        it.
        """
        asked = to_json(parameters)
        versions = [asked[name] for name in _VERSIONS if name in asked]
        commits = table.commits.filter(version__in=versions).order_by("version")
        facts = [
            [at.isoformat(), *more]
            for at, *more in commits.values_list("committed_at", *_COMMIT_FACTS)
        ]
        asked = {"table_id": str(table.id), **asked}
        return hashed_key(self.name, asked, table.delta_id, table.location, facts)

    def request(
        self,
        table: Table,
        parameters: P,
        *,
        now: datetime,
        requested_by: User | None = None,
    ) -> Job:
        """Queue the work, or return the job that does it or has done it."""
        key = self.key(table, parameters)
        return self._queue(table, parameters, key, now=now, requested_by=requested_by)

    def newest(self, table: Table, parameters: P) -> Job | None:
        """Return the newest job that does this very work; None without one."""
        return self._newest(table, self.key(table, parameters))

    def known(self, table: Table, parameters: P) -> JobRows[R] | None:
        """Return what a job has found before, without asking for one."""
        job = self.newest(table, parameters)
        return job_rows(self, job) if job is not None else None

    def answer(  # noqa: PLR0913 (a page's, and how long it waits)
        self,
        table: Table,
        parameters: P,
        *,
        now: datetime,
        requested_by: User,
        waits: bool = False,
        wait_s: float | None = None,
        meanwhile: Callable[[], object] | None = None,
    ) -> tuple[Job, JobRows[R] | None]:
        """Return the job that does this work, queued if need be, and its result.

        A job that failed stays the answer until somebody retries it, so that a page
        that is reloaded does not fail again and again. A job that was asked for just
        now is waited for as long as nobody notices; with `waits` a while, as a
        download does.

        Args:
            wait_s: How long it waits with `waits`; None as long as downloads do.
            meanwhile: What is done beside the job, unless that is over already.
        """
        key = self.key(table, parameters)
        job = self._newest(table, key)
        if job is None or is_lost(table, job):
            if job is not None:
                _let_go(job)
            job = self._queue(
                table, parameters, key, now=now, requested_by=requested_by, is_new=True
            )
        if meanwhile is not None and job.is_active:
            meanwhile()
        if waits:
            wait_for(job, wait_s)
        else:
            wait_a_glance(job)
        return job, job_rows(self, job)

    def start(
        self,
        table: Table,
        parameters: P,
        *,
        now: datetime,
        requested_by: User,
        lost: Job | None = None,
    ) -> Job:
        """Ask for the work; what is done or under way is not begun again.

        Args:
            lost: A job whose result was cleaned up: it stands for its work no longer.
        """
        if lost is not None:
            _let_go(lost)
        return self.request(table, parameters, now=now, requested_by=requested_by)

    def _newest(self, table: Table, key: str) -> Job | None:
        jobs = Job.objects.filter(kind=self.name, subject_id=table.id, key=key)
        return jobs.defer("log", "error_detail").order_by("-created_at").first()

    def _queue(  # noqa: PLR0913 (a row's)
        self,
        table: Table,
        parameters: P,
        key: str,
        *,
        now: datetime,
        requested_by: User | None,
        is_new: bool = False,
    ) -> Job:
        return enqueue(
            kind=self.name,
            title=self.title(table, parameters),
            parameters={"table_id": str(table.id), **to_json(parameters)},
            subject_id=table.id,
            key=key,
            requested_by=requested_by,
            now=now,
            reuse=True,
            is_cheap=bool(self.is_cheap and self.is_cheap(table, parameters)),
            is_new=is_new,
        )


def _let_go(lost: Job) -> None:
    """Let a job whose result was cleaned up stand for its work no longer."""
    Job.objects.filter(id=lost.id).update(key="")


def is_lost(table: Table, job: Job) -> bool:
    """Whether the result of a job that is done was cleaned up, or has another form."""
    if job.state != Job.State.DONE:
        return False
    if job_table(job) is not None:
        return kinds.all_kinds()[job.kind].found(job) is None
    return not _is_still_missing(table, job)


def _is_still_missing(table: Table, job: Job) -> bool:
    """Whether a job met a missing file, and nobody has found it since."""
    if failed_read_of(job) is None:
        return False
    return bool(missing_files_of(table, [job.parameters["version"]]))
