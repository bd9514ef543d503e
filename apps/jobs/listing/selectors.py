"""What pages show of jobs and workers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs.kind import Queue
from apps.jobs.kinds import queue_of, queues, words_of
from apps.jobs.listing.resource import JobOutcome, JobResource, PageJob
from apps.jobs.models import Job, JobQuerySet, Worker
from apps.jobs.running.process import is_known_alive, is_known_dead
from apps.jobs.visibility import (
    SubjectLink,
    retriable,
    subject_links,
    visible_jobs,
)
from apps.pages.errors import PageError
from apps.pages.page_json import shaped
from apps.pages.request import server_paths
from apps.pages.request.server_paths import text_for_reader
from deltaweb.words import counted


def without_places(text: str, subject: SubjectLink | None) -> str:
    """Name files by their last part, and a subject's place by the subject's name.

    A person reads the name of a file; its folders tell a viewer of the server's disk,
    and a log path of twenty digits leaves no room for what is wrong.
    """
    if subject is None:
        return server_paths.without_places(text)
    return server_paths.without_places(text, subject.place, subject.label)


ALIVE_FOR = timedelta(seconds=30)  # since a worker was last heard of
POLLS_S = ((10, 1), (60, 3))  # until so many seconds after the start, poll every ...
POLL_LATER_S = 10
_Worker: TypeAlias = tuple[str, list[str], datetime]  # name, queues, when heard of
MAX_POSITIONS = 1000  # places in the queue that a list counts


@dataclass(frozen=True, slots=True)
class WorkerState:
    """Whether work gets done at the moment.

    Attributes:
        num_alive: Workers heard of within the last half minute, and busy ones.
        num_busy: Workers that are not heard of, but hold jobs and are not gone: their
            work, or the database, keeps them from saying so.
        seen_at: When any worker was last heard of; None if never.
        num_running: Jobs in a worker's hands.
        unattended: Queues whose jobs wait, since no worker that takes them lives; and
            when one was last heard of, None if never.
    """

    num_alive: int
    num_busy: int
    seen_at: datetime | None
    num_queued: int
    num_running: int
    unattended: Mapping[str, datetime | None] = field(default_factory=dict)

    @property
    def is_alive(self) -> bool:
        return self.num_alive > 0

    @property
    def is_busy(self) -> bool:
        """Whether those that live are all too busy to say so."""
        return 0 < self.num_alive == self.num_busy


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a job and how long it took."""

    name: str
    started_at: datetime
    duration_s: float
    is_over: bool


@dataclass(frozen=True, slots=True)
class JobView:
    """One job, ready to render.

    Attributes:
        elapsed_s: Seconds since a worker took it, or that it took; None before.
        poll_s: How often its live part asks again; None once it is over.
        queue_position: 1 for the next one to be taken; None unless it waits.
        missing_since: While it waits and no worker lives that takes such jobs: when one
            was last heard of.
        has_worker: Whether such a worker lives; None unless the job waits.
        worker_seen_at: When the worker that has it was last heard of; None unless it
            runs.
        is_silent: Whether that worker has not been heard of for long.
        can_try_again: In a list, whether it ended without a result and its reader may
            run it again.
    """

    job: Job
    subject: SubjectLink | None
    elapsed_s: float | None
    poll_s: int | None
    queue_position: int | None = None
    missing_since: datetime | None = None
    has_worker: bool | None = None
    worker_seen_at: datetime | None = None
    is_silent: bool = False
    can_try_again: bool = False

    @property
    def kind_words(self) -> str:
        """What jobs of this kind do."""
        return words_of(self.job.kind)

    @property
    def short_error(self) -> str:
        """What went wrong, with names of files instead of places."""
        return without_places(self.job.error, self.subject)

    @property
    def state_colour(self) -> str:
        """The colour of the state's chip; its icon and word say the same."""
        return {
            Job.State.DONE: "is-green",
            Job.State.FAILED: "is-red",
            Job.State.RUNNING: "is-teal",
            Job.State.CANCELLED: "is-gray",
        }.get(Job.State(self.job.state), "is-blue")

    @property
    def state_icon(self) -> str:
        return {
            Job.State.DONE: "circle-check",
            Job.State.FAILED: "circle-x",
            Job.State.RUNNING: "rotate",
            Job.State.CANCELLED: "ban",
        }.get(Job.State(self.job.state), "hourglass")

    @property
    def steps(self) -> list[Step]:
        """The steps so far, the current one last."""
        return [_step(step, self.job) for step in self.job.steps]

    @property
    def counters(self) -> list[tuple[str, int]]:
        """Named counts as words: ("files listed", 12)."""
        # Sorted, since databases keep the names of JSON in orders of their own.
        counters = sorted(self.job.counters.items())
        return [(name.replace("_", " "), value) for name, value in counters]

    def describe(self) -> JobResource:
        """Return the job as machine forms name it."""
        job, subject = self.job, self.subject
        place = (subject.place, subject.label) if subject else ()
        return shaped(
            JobResource,
            job,
            subject=subject.label if subject else None,
            subject_url=subject.url if subject else None,
            requested_by=job.requested_by.username if job.requested_by else None,
            elapsed_s=self.elapsed_s,
            queue_position=self.queue_position,
            worker_seen_at=self.worker_seen_at,
            error_message=text_for_reader(job.error, *place) or None,
            error_hint=text_for_reader(job.error_hint, *place) or None,
        )


def get_job(user: User | AnonymousUser, job_id: UUID) -> Job:
    """Return a job that the user may see."""
    job = visible_jobs(user).filter(id=job_id).select_related("requested_by").first()
    if job is None:
        kept_for = counted(settings.JOB_DAYS, "day")
        raise PageError(
            status=404,
            code="job-not-found",
            message="There is no such job.",
            hint=f"Finished jobs are removed after {kept_for}.",
        )
    return job


def job_views(
    jobs: Sequence[Job], *, user: User | AnonymousUser, now: datetime
) -> list[JobView]:
    """Return many jobs ready to render, those that wait with their place."""
    links = subject_links({job.subject_id for job in jobs if job.subject_id})
    positions: dict[UUID, int] = {}
    if any(job.state == Job.State.QUEUED for job in jobs):
        ids = Job.objects.waiting().values_list("id", flat=True)[:MAX_POSITIONS]
        positions = {job_id: place for place, job_id in enumerate(ids, start=1)}
    failed = [job for job in jobs if job.can_be_retried]
    again = retriable(user, failed) if isinstance(user, User) else frozenset()
    return [
        replace(
            _view(job, links, now=now),
            queue_position=positions.get(job.id),
            can_try_again=job.id in again,
        )
        for job in jobs
    ]


def page_jobs(jobs: Sequence[Job]) -> list[PageJob]:
    """Return jobs as the machine forms of pages that wait for them name them."""
    views = job_views(jobs, user=AnonymousUser(), now=timezone.now())
    return [shaped(PageJob, view.describe()) for view in views]


def outcome_of(job: Job) -> JobOutcome:
    """Return one job as machine forms name it, with what it was asked and found.

    The id of a table is no parameter: the subject says which it is.
    """
    (view,) = job_views([job], user=AnonymousUser(), now=timezone.now())
    asked = {k: v for k, v in job.parameters.items() if k != "table_id"}
    return shaped(JobOutcome, view.describe(), parameters=asked, result=job.result)


def job_view(job: Job, *, now: datetime) -> JobView:
    """Return one job ready to render, with its place in the queue or its worker."""
    links = subject_links({job.subject_id} if job.subject_id else set())
    view = _view(job, links, now=now)
    if job.state == Job.State.RUNNING:
        seen_at = _seen_at(job)
        is_silent = seen_at is None or seen_at < now - ALIVE_FOR
        return replace(view, worker_seen_at=seen_at, is_silent=is_silent)
    if job.state != Job.State.QUEUED:
        return view
    earlier = Q(created_at__lt=job.created_at) | Q(
        created_at=job.created_at, id__lt=job.id
    )
    unattended = unattended_queues(now=now)
    queue = queue_of(job)
    return replace(
        view,
        elapsed_s=None,
        queue_position=Job.objects.waiting().filter(earlier).count() + 1,
        missing_since=unattended.get(queue),
        has_worker=queue not in unattended,
    )


def worker_state(*, now: datetime) -> WorkerState:
    """Return whether workers live and how much waits for them."""
    workers, leases = _workers(), _leases()
    silent = _silent(workers, now)
    busy = silent & _holders(leases, now)
    return WorkerState(
        num_alive=len(workers) - len(silent - busy),
        num_busy=len(busy),
        seen_at=max((seen_at for *_, seen_at in workers), default=None),
        num_queued=Job.objects.filter(state=Job.State.QUEUED).count(),
        num_running=len(leases),
        unattended=_unattended(workers, silent - busy),
    )


def unattended_queues(*, now: datetime) -> Mapping[str, datetime | None]:
    """Return `WorkerState.unattended`, by one query where every worker is heard of."""
    workers = _workers()
    silent = _silent(workers, now)
    busy = silent & _holders(_leases(), now) if silent else set()
    return _unattended(workers, silent - busy)


def _workers() -> list[_Worker]:
    return list(Worker.objects.values_list("name", "queues", "seen_at"))


def _leases() -> list[tuple[str, datetime | None]]:
    running = Job.objects.filter(state=Job.State.RUNNING)
    return list(running.values_list("lease_owner", "lease_expires_at"))


def _silent(workers: Sequence[_Worker], now: datetime) -> set[str]:
    return {name for name, _, seen_at in workers if seen_at < now - ALIVE_FOR}


def _unattended(
    workers: Sequence[_Worker], gone: set[str]
) -> Mapping[str, datetime | None]:
    seen: dict[str, datetime | None] = dict.fromkeys(queues())
    attended: set[str] = set()
    for name, taken, seen_at in workers:
        for queue in taken or seen:
            seen[queue] = max(seen.get(queue) or seen_at, seen_at)
            if name not in gone:
                attended.add(queue)
    return {queue: seen[queue] for queue in queues() if queue not in attended}


def _holders(leases: Iterable[tuple[str, datetime | None]], now: datetime) -> set[str]:
    """Return the names of the processes that hold jobs and are not gone."""
    found = set()
    for owner, expires_at in leases:
        name = owner.partition("#")[0]
        is_held = expires_at is not None and expires_at >= now
        if is_known_alive(name) or (is_held and not is_known_dead(name)):
            found.add(name)
    return found


def is_attended(job: Job, *, now: datetime) -> bool:
    """Whether a worker lives that takes such jobs."""
    return queue_of(job) not in unattended_queues(now=now)


def may_end_soon(job: Job, *, now: datetime) -> bool:
    """Whether a worker was heard of lately that takes the job, and not for Spark.

    One that is too busy to say so counts for none: what it does lasts.
    """
    queue = queue_of(job)
    if queue == Queue.SPARK:
        return False
    taken = Worker.objects.filter(seen_at__gte=now - ALIVE_FOR).values_list("queues")
    return any(not queues or queue in queues for (queues,) in taken)


def workers_alive(*, now: datetime) -> list[Worker]:
    """Return the workers that live, by name."""
    return list(Worker.objects.filter(seen_at__gte=now - ALIVE_FOR).order_by("name"))


def active_summary(user: User | AnonymousUser) -> tuple[int, Job | None]:
    """Return how many jobs are active for a user, and the one that is furthest."""
    # Often no job is active, and this query is faster than the one with rights.
    states = Job.objects.active().order_by().values_list("state", flat=True).distinct()
    found = set(states)
    active = visible_jobs(user).active()
    count = active.count() if found else 0
    if not count or Job.State.RUNNING not in found:
        return count, None
    running = light(active.filter(state=Job.State.RUNNING)).order_by("started_at")
    return count, running.first()


def light(jobs: JobQuerySet) -> JobQuerySet:
    """Leave out the long texts that only the detail page shows."""
    return jobs.defer("log", "error_detail", "result", "parameters", "steps")


def _view(job: Job, links: dict[UUID, SubjectLink], *, now: datetime) -> JobView:
    elapsed_s = None
    if job.started_at is not None:
        until = job.finished_at or now
        elapsed_s = max(0.0, (until - job.started_at).total_seconds())
    return JobView(
        job=job,
        subject=links.get(job.subject_id) if job.subject_id else None,
        elapsed_s=elapsed_s,
        poll_s=_poll_s(job, now=now) if job.is_active else None,
    )


def _poll_s(job: Job, *, now: datetime) -> int:
    age_s = (now - job.created_at).total_seconds()
    return next((poll_s for until, poll_s in POLLS_S if age_s < until), POLL_LATER_S)


def _seen_at(job: Job) -> datetime | None:
    """When a running job's worker last gave a sign of life, by its row or its lease."""
    name = job.lease_owner.partition("#")[0]
    seen_at = Worker.objects.filter(name=name).values_list("seen_at", flat=True).first()
    renewed_at = None
    if job.lease_expires_at is not None:
        renewed_at = job.lease_expires_at - timedelta(seconds=settings.JOB_LEASE_S)
    return max((at for at in (seen_at, renewed_at) if at is not None), default=None)


def _step(step: dict[str, str | None], job: Job) -> Step:
    started_at = _moment(step["started_at"])
    is_over = step["finished_at"] is not None
    ended_at = _moment(step["finished_at"]) if is_over else job.finished_at
    duration_s = ((ended_at or datetime.now(tz=UTC)) - started_at).total_seconds()
    return Step(str(step["name"]), started_at, max(0.0, duration_s), is_over)


def _moment(text: str | None) -> datetime:
    return datetime.fromisoformat(str(text))
