"""Index jobs in this worker's hands: several at once, each with its own end."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from apps.jobs.models import Job
from apps.jobs.running.cancel_watch import CancelWatch
from apps.jobs.running.database_faults import DATABASE_FAULTS, persistently
from apps.jobs.running.held_lease import LeaseLostError
from apps.jobs.running.tracking import JobCancelled, TrackedJob
from apps.pages.page_json import json_of
from apps.tables.errors import TableNotRegisteredError
from apps.tables.index.folders import LogIndexed, new_index_folder, present_index
from apps.tables.index.results import store_failure, store_result
from apps.tables.models import Table
from apps.tables.storage.opening import roots_of_server, table_place
from apps.tables.storage.received import IS_RECEIVED
from deltaweb.delta.errors import DeltaError
from deltaweb.errors import DeltawebError
from deltaweb.index.folder.result import CANCELLED, FAILED, INDEXED, IndexResult
from deltaweb.storage.place import TablePlace

KIND: Final = "tables.index_log"
BATCH: Final = 32  # jobs that one Spark job does at most
LONG: Final = timedelta(seconds=20)
LOOKED_AT: Final = 8 * BATCH  # of the jobs that wait


def slow_jobs(jobs: QuerySet[Job]) -> set[UUID]:
    """Return those of some index jobs whose tables likely take long.

    A batch ends with its slowest table. One that took long the last time, or was in a
    worker's hands before, will likely take long again: a batch has one of them at most.
    """
    last = Job.objects.filter(
        kind=KIND, subject_id=OuterRef("subject_id"), finished_at__isnull=False
    ).order_by("-created_at")
    found = jobs.annotate(
        last_started_at=Subquery(last.values("started_at")[:1]),
        last_finished_at=Subquery(last.values("finished_at")[:1]),
    )
    # Who takes a job counts it as an attempt.
    is_again = Q(state=Job.State.QUEUED, attempts__gt=0) | Q(attempts__gt=1)
    took_long = Q(last_finished_at__gt=F("last_started_at") + LONG)
    return set(found.filter(is_again | took_long).values_list("id", flat=True))


def jobs_beside(job_id: UUID) -> list[UUID]:
    """Return the jobs that wait and are to be done beside one, in their order."""
    waiting = Job.objects.waiting().filter(kind=KIND)
    waiting = waiting.filter(**{f"parameters__{IS_RECEIVED}__isnull": True})
    ids = list(waiting.values_list("id", flat=True)[:LOOKED_AT])
    slow = slow_jobs(Job.objects.filter(id__in=[job_id, *ids]))
    chosen: list[UUID] = []
    has_slow = job_id in slow
    for one in ids:
        if one in slow and has_slow:
            continue
        has_slow = has_slow or one in slow
        chosen.append(one)
    return chosen[: BATCH - 1]


logger = logging.getLogger(__name__)


class Progress(Protocol):
    """How far one table is."""

    @property
    def step(self) -> str:
        """What is being done."""

    @property
    def done(self) -> int:
        """How much of it is done."""

    @property
    def total(self) -> int | None:
        """Of how much; None when that is not known."""

    @property
    def unit(self) -> str:
        """Of what."""


@dataclass(slots=True, eq=False)
class IndexJob:
    """A job, its table, how its storage is reached, and where its index goes.

    Attributes:
        base: The folder of the index that the table has; None without one that can be
            updated. Another worker's index may take its place at any time.
        error_code: Of the result; "" while there is none, and without an error.
    """

    job: TrackedJob
    table: Table
    base: Path | None
    place: TablePlace
    folder: Path = field(default_factory=Path)
    is_over: bool = False
    error_code: str = ""
    _step: str = ""

    def begin(self, step: str, *, now: datetime) -> None:
        """Say what is being done before the table's own work begins.

        Each attempt has a folder of its own: what a lost session left running may
        still write into the one of before.
        """
        self.folder = new_index_folder(self.table.id, now=now, mark=self.job.id.hex)
        self.work(step)

    def work(self, step: str) -> None:
        """Say what is being done; one that was cancelled, or lost, ends."""
        self._step = step
        try:
            self.job.step(step)
        except JobCancelled:
            self.is_over = True
            self.job.cancel()
        except LeaseLostError:
            self.is_over = True

    def report(self, progress: Progress | None) -> bool:
        """Write the progress; return whether the job is to be stopped."""
        try:
            if progress is None:
                self.job.check_cancelled()
            else:
                if progress.step != self._step:
                    self._step = progress.step
                    self.job.step(progress.step)
                self.job.progress(
                    progress.done, total=progress.total, unit=progress.unit
                )
        except JobCancelled:
            return True
        except LeaseLostError:
            self.is_over = True
            return True
        return False

    def finish(self, result: IndexResult, *, now: datetime) -> None:
        """Store what came out and end the job."""
        if self.is_over:
            return
        self.is_over = True
        self.error_code = result.error_code
        try:
            self.job.check_cancelled()
            if result.state == CANCELLED:
                self.job.cancel()
                return
            if result.folder:
                self._tell(result)
                self.job.step("Storing the index")
            persistently(lambda: self._store(result, now))
        except JobCancelled:
            self.job.cancel()
        except LeaseLostError:
            logger.warning("Job %s has lost its lease.", self.job.id)
        except Exception as error:  # noqa: BLE001 (one table never fails the others)
            self.fail(error)
        else:
            if result.state == FAILED or result.is_broken:
                self.job.fail(IndexFailedError(result))
            else:
                done = LogIndexed(version=result.version, state=result.state)
                self.job.succeed(json_of(done))

    def _tell(self, result: IndexResult) -> None:
        """Say what was read, whose steps may have been too short to be reported."""
        if result.first_commit is not None and result.version is not None:
            self.job.count("commits", result.version - result.first_commit + 1)
        if result.num_files is not None:
            self.job.count("files", result.num_files)
        words = "Read version" if result.state == INDEXED else "Read the history of"
        self.job.log(f"{words} {result.version}")

    def _store(self, result: IndexResult, now: datetime) -> None:
        self.job.check_held()
        store_result(self.table, result, now=now)

    def fail(self, error: BaseException) -> None:
        """End the job by an error that is not the table's.

        What the database is to blame for is done again.
        """
        self.is_over = True
        if isinstance(error, DATABASE_FAULTS):
            self.job.give_back(error)
        else:
            self.job.fail(error)


class IndexFailedError(DeltawebError):
    """A table could not be indexed; the words are those of the result."""

    def __init__(self, result: IndexResult) -> None:
        super().__init__(
            code=result.error_code, message=result.error, hint=result.error_hint
        )
        self.args = (result.error_detail or result.error,)


@dataclass(slots=True)
class IndexBatch:
    """The index jobs that one Spark job does."""

    jobs: list[IndexJob] = field(default_factory=list)
    _leases: ExitStack = field(default_factory=ExitStack)
    _watch: CancelWatch = field(default_factory=CancelWatch)

    @classmethod
    def take(cls, job_id: str, *, clock: Callable[[], datetime]) -> "IndexBatch":
        """Take the job that was asked for, and others that wait beside it.

        Tables that took long come last, and one of them alone: the others of the batch
        are not held back by it, however few cores there are.

        Empty when another worker has the job: its own wake-ups see to the others.
        """
        batch = cls()
        try:
            batch._take_one(job_id, clock)
            if batch.jobs and not batch.is_received:
                for other in jobs_beside(batch.jobs[0].job.id):
                    batch._take_one(str(other), clock)
                slow = slow_jobs(Job.objects.filter(id__in=batch.ids))
                batch.jobs.sort(key=lambda job: job.job.id in slow)  # tables in order
        except DATABASE_FAULTS as error:
            if not batch.jobs:
                raise
            logger.warning("No more jobs are taken: %s", error)
        except BaseException:
            batch.close()  # or its leases would be renewed for ever
            raise
        return batch

    @property
    def ids(self) -> list[UUID]:
        return [job.job.id for job in self.jobs]

    @property
    def is_received(self) -> bool:
        """Whether others share its table, which is alone then."""
        return any(job.job.parameters.get(IS_RECEIVED) for job in self.jobs)

    @property
    def open_jobs(self) -> list[IndexJob]:
        """The jobs that have not ended."""
        return [job for job in self.jobs if not job.is_over]

    @property
    def is_first_attempt(self) -> bool:
        return all(job.job.attempt == 1 for job in self.jobs)

    def begin(self, step: str) -> None:
        """Say of every open job what it waits for; one that was cancelled ends."""
        for job in self.open_jobs:
            job.begin(step, now=timezone.now())

    def work(self, step: str) -> None:
        """Say of every open job what is being done; one that was cancelled ends."""
        for job in self.open_jobs:
            job.work(step)

    def on_result(self, jobs: Sequence[IndexJob], position: int, result: Any) -> None:  # noqa: ANN401 (an IndexResult, from a layer above)
        """Store one result."""
        with jobs[position].job.named_in_lines():
            jobs[position].finish(result, now=timezone.now())

    def on_tick(
        self, jobs: Sequence[IndexJob], progress: Mapping[int, Progress]
    ) -> Collection[int]:
        """Write the progress of each job and name those to stop."""
        return [
            position
            for position, job in enumerate(jobs)
            if not job.is_over and job.report(progress.get(position))
        ]

    def fail_open(self, error: Exception) -> None:
        """End what has not ended by an error of the whole batch."""
        words = error if isinstance(error, DeltawebError) else None
        for job in self.open_jobs:
            job.fail(error)
            if isinstance(error, DATABASE_FAULTS):
                continue
            store_failure(
                job.table.id,
                code=words.code if words else "internal-error",
                message=words.message if words else str(error),
                hint=words.hint if words else "",
                now=timezone.now(),
            )

    def release(self) -> None:
        """Put back what has not ended: this worker has been told to stop."""
        for job in self.open_jobs:
            job.is_over = True
            job.job.release()

    def close(self) -> None:
        """Stop renewing leases."""
        self._leases.close()

    def _take_one(self, job_id: str, clock: Callable[[], datetime]) -> None:
        job = TrackedJob.take(job_id, clock=clock, watch=self._watch)
        if job is None:
            return
        try:
            self._add(job, clock)
        except DATABASE_FAULTS:
            raise
        except Exception as error:  # noqa: BLE001 (one job never fails the others)
            job.fail(error)

    def _add(self, job: TrackedJob, clock: Callable[[], datetime]) -> None:
        table = Table.objects.filter(id=str(job.parameters["table_id"])).first()
        if table is None:
            job.fail(TableNotRegisteredError(name=job.title))
            return
        try:
            place = table_place(table, roots=roots_of_server())
        except DeltaError as error:
            job.fail(error)
            store_failure(
                table.id,
                code=error.code,
                message=error.message,
                hint=error.hint,
                now=clock(),
            )
            return
        self._leases.enter_context(job.renewing())
        base = present_index(table)
        self.jobs.append(IndexJob(job, table, base, place))
