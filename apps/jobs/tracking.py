"""How a task works on a job: it takes a lease, reports, and leaves an end behind.

    @shared_task(name="tables.check_location", acks_late=True, ignore_result=True)
    def check_location(*, job_id: str, **_: object) -> None:
        with track_job(job_id) as job:
            if job is None:  # done, cancelled or in another worker's hands
                return
            job.step("Listing the log")
            job.progress(12, total=40, unit="commits")  # stops a cancelled job, too
            job.count("files_listed", 12)
            job.result = {"version": 12}

The row is written by whoever holds the lease and by nobody else: every write names
the lease, and a worker that has lost it stops with `LeaseLostError`.
"""

import logging
import math
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.models import F
from django.utils import timezone

from apps.jobs.models import Job
from apps.jobs.process import process_name

logger = logging.getLogger(__name__)

T = TypeVar("T")

WRITE_INTERVAL_S = 0.5  # between two writes of progress, and two looks for a cancel
LOG_LIMIT = 20_000  # characters kept of a job's log and of an error's details
# Tries of what must be written to a database that is locked or gone; half a minute.
WRITE_ATTEMPTS = 8
# What a query raises when the database is locked, stopped or starting again.
DATABASE_FAULTS = (OperationalError, InterfaceError)


class JobCancelled(Exception):  # noqa: N818 (not an error: someone asked for it)
    """Raised in the work when someone has asked to cancel the job."""


class LeaseLostError(Exception):
    """Another worker may have taken the job: stop, and write nothing."""


class TrackedJob:
    """A job in this worker's hands.

    Attributes:
        id, kind, subject_id, parameters, key, title: As the row has them.
        attempt: 1 the first time that a worker takes the job.
        result: What to keep of the work, as JSON; set it before the body ends.
    """

    def __init__(
        self, row: Job, *, lease_owner: str, clock: Callable[[], datetime]
    ) -> None:
        self.id = row.id
        self.kind = row.kind
        self.title = row.title
        self.subject_id = row.subject_id
        self.parameters: dict[str, Any] = row.parameters
        self.key = row.key
        self.attempt = row.attempts
        self.result: Any = None
        self._clock = clock
        self._lease_owner = lease_owner
        self._log = row.log
        self._steps: list[dict[str, str | None]] = []
        self._counters: dict[str, int] = {}
        self._pending: dict[str, Any] = {}
        self._written_at = time.monotonic()
        self._looked_at = -math.inf  # the first look is never put off
        self._has_ended = False
        self._lease_lost = threading.Event()

    @classmethod
    def take(
        cls, job_id: str | uuid.UUID, *, clock: Callable[[], datetime]
    ) -> "TrackedJob | None":
        """Take a queued job; None when it is not there to be taken.

        One UPDATE decides, so of two workers that try only one gets the job.
        """
        now = clock()
        lease_owner = f"{process_name()}#{uuid.uuid4().hex[:8]}"
        waiting = Job.objects.filter(id=job_id, state=Job.State.QUEUED)
        taken = persistently(
            lambda: waiting.update(
                state=Job.State.RUNNING,
                lease_owner=lease_owner,
                lease_expires_at=now + _lease(),
                started_at=now,
                attempts=F("attempts") + 1,
                step="",
                steps=[],
                counters={},
                progress_done=0,
                progress_total=None,
                progress_unit="",
            )
        )
        if not taken:
            return None
        row = persistently(lambda: Job.objects.get(id=job_id))
        return cls(row, lease_owner=lease_owner, clock=clock)

    # === Reports ===

    def step(self, name: str) -> None:
        """Begin the next step; its name is what the page shows."""
        at = _iso(self._clock())
        self._close_step(at)
        name = _storable(name)[:200]
        self._steps.append({"name": name, "started_at": at, "finished_at": None})
        self._append_log(f"{at} {name}")
        self._pending |= {
            "step": name,
            "progress_done": 0,
            "progress_total": None,
            "progress_unit": "",
        }
        self._flush()
        self.check_cancelled()

    def progress(self, done: int, *, total: int | None = None, unit: str = "") -> None:
        """Say how far the step is; written twice a second at most.

        Raises:
            JobCancelled: If someone has asked to cancel the job.
            LeaseLostError: If the job is no longer this worker's.
        """
        self._pending |= {
            "progress_done": done,
            "progress_total": total,
            "progress_unit": unit[:32],
        }
        if time.monotonic() - self._written_at >= WRITE_INTERVAL_S:
            self._flush()
        self.check_cancelled()

    def count(self, name: str, value: int) -> None:
        """Set a named count that the page shows beside the progress."""
        self._counters[name] = value
        self._pending["counters"] = self._counters

    def log(self, text: str) -> None:
        """Add a line to the job's log; it is written with the next progress."""
        self._append_log(f"{_iso(self._clock())} {_storable(text)}")

    def check_cancelled(self) -> None:
        """Stop here if someone has asked to cancel; cheap to call in a loop.

        Raises:
            JobCancelled: If someone has asked to cancel the job.
            LeaseLostError: If the job is no longer this worker's.
        """
        if self._lease_lost.is_set():
            raise LeaseLostError
        if time.monotonic() - self._looked_at < WRITE_INTERVAL_S:
            return
        self._looked_at = time.monotonic()
        asked = self._mine().filter(cancel_requested_at__isnull=False)
        try:
            is_asked = asked.exists()
        except DATABASE_FAULTS:
            logger.warning("Nobody can tell whether job %s is cancelled.", self.id)
            _let_go()
            return
        if is_asked:
            raise JobCancelled

    # === Ends ===

    def succeed(self, result: Any = None) -> None:  # noqa: ANN401 (any JSON value)
        """Mark the job done; the body's end does it with `job.result`."""
        self._end(
            Job.State.DONE,
            result=_storable(self.result if result is None else result),
        )

    def fail(self, error: BaseException) -> None:
        """Mark the job failed; an error that leaves the body does it.

        An error with `code`, `message` and `hint` (DeltaError, PageError) is said in
        its own words, any other is an `internal-error`; details are kept folded.
        """
        code = getattr(error, "code", None)
        if isinstance(code, str):
            message = getattr(error, "message", str(error))
            hint = getattr(error, "hint", "")
        else:
            logger.error("Job %s failed: %s", self.id, self.title, exc_info=error)
            code = "internal-error"
            message = f"The worker met an error it does not know: {_one_line(error)}"
            hint = "Retry the job; if it fails again, report the details."
        details = "".join(traceback.format_exception(error))[-LOG_LIMIT:]
        self._end(
            Job.State.FAILED,
            error_code=code[:64],
            error=_storable(message),
            error_hint=_storable(hint),
            error_detail=_storable(details),
        )

    def cancel(self) -> None:
        """Mark the job cancelled; `JobCancelled` leaving the body does it."""
        self._end(Job.State.CANCELLED)

    def release(self) -> None:
        """Put the job back for another worker: this one has been told to stop."""
        self._append_log(f"{_iso(self._clock())} The worker stopped; queued again")
        self._end(
            Job.State.QUEUED,
            attempts=max(0, self.attempt - 1),
            woken_at=None,
            finished_at=None,
        )

    def give_back(self, error: BaseException) -> None:
        """Put the job back where a fault is not its own: it is done again later.

        It counts as an attempt, so that a fault that stays comes to an end.
        """
        if self.attempt >= Job.MAX_ATTEMPTS:
            self.fail(error)
            return
        logger.warning("Job %s is queued again: %s", self.id, _one_line(error))
        self._append_log(f"{_iso(self._clock())} Queued again: {_one_line(error)}")
        self._end(Job.State.QUEUED, woken_at=None, finished_at=None)

    # === The lease ===

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Renew the lease in a thread for as long as the block runs."""
        stop = threading.Event()
        thread = threading.Thread(
            target=self._renew, args=(stop,), name=f"lease-{self.id}", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(timeout=5)

    def _renew(self, stop: threading.Event) -> None:
        interval_s = settings.JOB_LEASE_S / 3
        try:
            while not stop.wait(interval_s) and not self._has_ended:
                try:
                    expires_at = self._clock() + _lease()
                    if not self._mine().update(lease_expires_at=expires_at):
                        self._lease_lost.set()
                        return
                except (DatabaseError, InterfaceError):
                    logger.warning("The lease of job %s was not renewed.", self.id)
                    connection.close()
        finally:
            if threading.current_thread() is not threading.main_thread():
                connection.close()

    def _mine(self) -> Any:  # noqa: ANN401 (the stubs know it as a QuerySet of Job)
        return Job.objects.filter(
            id=self.id, state=Job.State.RUNNING, lease_owner=self._lease_owner
        )

    # === Writing ===

    def _append_log(self, line: str) -> None:
        self._log = f"{self._log}{line}\n"[-LOG_LIMIT:]
        self._pending |= {"log": self._log, "steps": self._steps}

    def _close_step(self, at: str) -> None:
        if self._steps and self._steps[-1]["finished_at"] is None:
            self._steps[-1]["finished_at"] = at

    def _flush(self) -> None:
        """Write what is pending; a database that is away loses a report alone."""
        self._written_at = time.monotonic()
        fields, self._pending = self._pending, {}
        fields["lease_expires_at"] = self._clock() + _lease()
        try:
            still_mine = self._mine().update(**fields)
        except DATABASE_FAULTS:
            logger.warning("Progress of job %s was not written.", self.id)
            self._pending = fields | self._pending
            _let_go()
            return
        if not still_mine:
            self._lease_lost.set()
            raise LeaseLostError

    def _end(self, state: Job.State, **fields: Any) -> None:  # noqa: ANN401 (columns)
        if self._has_ended:
            return
        now = self._clock()
        self._close_step(_iso(now))
        fields = {
            "finished_at": now,
            **self._pending,
            "steps": self._steps,
            "counters": self._counters,
            **fields,
            "state": state,
            "lease_owner": "",
            "lease_expires_at": None,
        }
        written = persistently(lambda: self._mine().update(**fields))
        self._has_ended = True
        if not written:
            logger.warning("Job %s ended after its lease was lost.", self.id)


def track_job(
    job_id: str | uuid.UUID, *, clock: Callable[[], datetime] = timezone.now
) -> "AbstractContextManager[TrackedJob | None, bool]":
    """Take a job for the length of the block and write how it ends.

    The block gets None when there is nothing to do: the job is unknown, done,
    cancelled or held by another worker. No error leaves the block, for the row tells
    it; what stops the process (SystemExit, KeyboardInterrupt) does, and the job is
    put back.
    """
    tracking = _track(job_id, clock=clock)
    # The type says what `contextmanager` cannot: errors are swallowed.
    return cast("AbstractContextManager[TrackedJob | None, bool]", tracking)


@contextmanager
def _track(
    job_id: str | uuid.UUID, *, clock: Callable[[], datetime]
) -> Iterator[TrackedJob | None]:
    job = TrackedJob.take(job_id, clock=clock)
    if job is None:
        logger.info("Job %s is not waiting; its wake-up is dropped.", job_id)
        yield None
        return
    with job.renewing():
        try:
            yield job
        except JobCancelled:
            job.cancel()
        except LeaseLostError:
            logger.warning("Job %s has lost its lease; another worker has it.", job_id)
        except DATABASE_FAULTS as error:
            _let_go()
            job.give_back(error)
        except Exception as error:  # noqa: BLE001 (the row keeps every failure)
            job.fail(error)
        except BaseException:
            job.release()
            raise
        else:
            job.succeed()


def _lease() -> timedelta:
    return timedelta(seconds=settings.JOB_LEASE_S)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _one_line(error: BaseException) -> str:
    first = (str(error).splitlines() or [""])[0][:300]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _storable(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Drop what PostgreSQL takes neither as text nor as JSON: NUL, lone surrogates."""
    if isinstance(value, str):
        text = value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
        return text.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value


def persistently(write: Callable[[], T]) -> T:
    """Do what may be done twice until the database takes it, for half a minute.

    Raises:
        OperationalError: If it is locked or gone for longer.
        InterfaceError: The same.
    """
    for attempt in range(1, WRITE_ATTEMPTS):
        try:
            return write()
        except DATABASE_FAULTS:
            logger.warning("The database took nothing at attempt %d.", attempt)
            _let_go()
            time.sleep(attempt)
    return write()


def _let_go() -> None:
    """Drop a connection that may be broken; the next query makes another."""
    if not connection.in_atomic_block:
        connection.close()
