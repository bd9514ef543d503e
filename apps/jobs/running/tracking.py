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
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any, cast

from django.utils import timezone

from apps.jobs.models import Job
from apps.jobs.running.apart_process import HandedOnError
from apps.jobs.running.cancel_watch import CancelWatch
from apps.jobs.running.database_faults import DATABASE_FAULTS, let_go
from apps.jobs.running.held_lease import HeldLease, LeaseLostError, take_lease
from apps.jobs.running.reports import Reports
from apps.jobs.running.row_texts import begun_step, iso, one_line, storable
from deltaweb.environment.logs import named_in_lines
from deltaweb.environment.outages import lost_database
from deltaweb.errors import DeltawebError

logger = logging.getLogger(__name__)

WRITE_INTERVAL_S = 0.5  # between two writes of progress
LOG_LIMIT = 20_000  # characters kept of a job's log and of an error's details


class JobCancelled(Exception):  # noqa: N818 (not an error: someone asked for it)
    """Raised in the work when someone has asked to cancel the job."""


class TrackedJob(Reports):
    """A job in this worker's hands.

    Attributes:
        attempt: 1 the first time that a worker takes the job.
        result: What to keep of the work, as JSON; set it before the body ends.
    """

    def __init__(
        self,
        row: Job,
        *,
        lease: HeldLease,
        watch: CancelWatch,
        clock: Callable[[], datetime],
    ) -> None:
        self.id = row.id
        self.kind = row.kind
        self.title = row.title
        self.subject_id = row.subject_id
        self.parameters: dict[str, Any] = row.parameters
        self.request_id = row.request_id
        self.key = row.key
        self.attempt = row.attempts
        self.result: Any = None
        self._clock = clock
        self._lease = lease
        self._watch = watch
        self._log = row.log
        self._steps: list[dict[str, str | None]] = row.steps
        self._counters: dict[str, int] = {}
        self._pending: dict[str, Any] = {}
        for step in self._steps:
            self._append_log(f"{step['started_at']} {step['name']}")
        self._written_at = time.monotonic()

    @classmethod
    def take(
        cls,
        job_id: str | uuid.UUID,
        *,
        clock: Callable[[], datetime],
        watch: CancelWatch | None = None,
        first_step: str = "",
    ) -> "TrackedJob | None":
        """Take a queued job; None when it is not there to be taken.

        Args:
            watch: Looks for cancels; one that several jobs share asks once for all.
            first_step: What is begun with, where that is known: it is written as the
                job is taken, and cancels are looked for from then on.
        """
        taken = take_lease(job_id, clock=clock, first_step=first_step)
        if taken is None:
            return None
        lease, row = taken
        is_asked = row.cancel_requested_at is not None
        watch = watch or CancelWatch()
        watch.add(lease, is_asked=is_asked if first_step else None)
        return cls(row, lease=lease, watch=watch, clock=clock)

    def renewing(self) -> AbstractContextManager[None]:
        """Renew the lease in a thread for as long as the block runs."""
        return self._lease.renewing()

    def named_in_lines(self) -> AbstractContextManager[None]:
        """Give log lines the ids of the job and of the request that asked for it."""
        return named_in_lines(request=self.request_id, job=str(self.id))

    # === Reports ===

    def step(
        self, name: str, *, done: int = 0, total: int | None = None, unit: str = ""
    ) -> None:
        """Begin the next step; its name is what the page shows."""
        now = self._clock()
        self._close_step(iso(now))
        name = storable(name)[:200]
        self._steps.append(begun_step(name, now))
        self._append_log(f"{iso(now)} {name}")
        self._pending |= {
            "step": name,
            "progress_done": done,
            "progress_total": total,
            "progress_unit": unit[:32],
        }
        self._flush()
        self.check_cancelled()

    def progress(self, done: int, *, total: int | None = None, unit: str = "") -> None:
        """Say how far the step is; written twice a second at most."""
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
        self._append_log(f"{iso(self._clock())} {storable(text)}")

    def check_cancelled(self) -> None:
        """Stop here if someone has asked to cancel; cheap to call in a loop."""
        if self._lease.is_lost.is_set():
            raise LeaseLostError
        if self._watch.is_asked(self._lease):
            raise JobCancelled

    def check_held(self) -> None:
        """Stop here if the job is no longer this worker's, as the database knows it.

        To be called before what must not be done by a worker that was passed over: one
        that stood still for long has not heard of it.
        """
        self._lease.write({})

    # === Ends ===

    def succeed(self, result: Any = None) -> None:  # noqa: ANN401 (any JSON value)
        """Mark the job done; the body's end does it with `job.result`."""
        self._end(
            Job.State.DONE,
            result=storable(self.result if result is None else result),
        )

    def fail(self, error: BaseException) -> None:
        """Mark the job failed; an error that leaves the body does it.

        A `DeltawebError` is reported in its own words, any other is an
        `internal-error`; details are kept folded.
        """
        if isinstance(error, DeltawebError):
            code, message, hint = error.code, error.message, error.hint
        else:
            logger.error("Job %s failed: %s", self.id, self.title, exc_info=error)
            code = "internal-error"
            message = f"The worker met an unexpected error: {one_line(error)}"
            hint = "Retry the job; if it fails again, report the details."
        details = "".join(traceback.format_exception(error))[-LOG_LIMIT:]
        self._end(
            Job.State.FAILED,
            error_code=code[:64],
            error=storable(message),
            error_hint=storable(hint),
            error_detail=storable(details),
        )

    def cancel(self) -> None:
        """Mark the job cancelled; `JobCancelled` leaving the body does it."""
        self._end(Job.State.CANCELLED)

    def release(self) -> None:
        """Put the job back for another worker: this one has been told to stop."""
        self._append_log(f"{iso(self._clock())} The worker stopped; queued again")
        self._end(
            Job.State.QUEUED,
            attempts=max(0, self.attempt - 1),
            woken_at=None,
            finished_at=None,
        )

    def hand_on(self) -> None:
        """Put the job back for the worker of this process, which has what it needs."""
        self._end(
            Job.State.QUEUED,
            attempts=max(0, self.attempt - 1),
            woken_at=self._clock(),
            finished_at=None,
        )

    def give_back(self, error: BaseException) -> None:
        """Put the job back where a fault is not its own: it is done again later.

        It counts as an attempt, so that a fault that stays comes to an end.
        """
        if self.attempt >= Job.MAX_ATTEMPTS:
            self.fail(error)
            return
        logger.warning("Job %s is queued again: %s", self.id, one_line(error))
        self._append_log(f"{iso(self._clock())} Queued again: {one_line(error)}")
        self._end(Job.State.QUEUED, woken_at=None, finished_at=None)

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
        try:
            self._lease.write(fields)
        except DATABASE_FAULTS as error:
            lost = lost_database(error)
            logger.warning(
                "Progress of job %s was not written.", self.id, exc_info=lost
            )
            self._pending = fields | self._pending
            let_go()

    def _end(self, state: Job.State, **fields: object) -> None:
        if self._lease.has_ended:
            return
        now = self._clock()
        self._close_step(iso(now))
        fields = {
            "finished_at": now,
            **self._pending,
            "steps": self._steps,
            "counters": self._counters,
            **fields,
            "state": state,
        }
        if not self._lease.end(fields):
            logger.warning("Job %s ended after its lease was lost.", self.id)


def track_job(
    job_id: str | uuid.UUID,
    *,
    clock: Callable[[], datetime] = timezone.now,
    first_step: str = "",
) -> "AbstractContextManager[TrackedJob | None, bool]":
    """Take a job for the length of the block and write how it ends.

    The block gets None when there is nothing to do: the job is unknown, done,
    cancelled or held by another worker. No error leaves the block, for the row tells
    it; what stops the process (SystemExit, KeyboardInterrupt) does, and the job is
    put back.

    Args:
        first_step: What the block begins with, where that is known.
    """
    tracking = _track(job_id, clock=clock, first_step=first_step)
    # The type says what `contextmanager` cannot: errors are swallowed.
    return cast("AbstractContextManager[TrackedJob | None, bool]", tracking)


@contextmanager
def _track(
    job_id: str | uuid.UUID, *, clock: Callable[[], datetime], first_step: str
) -> Iterator[TrackedJob | None]:
    job = TrackedJob.take(job_id, clock=clock, first_step=first_step)
    if job is None:
        logger.info("Job %s is not waiting; its wake-up is dropped.", job_id)
        yield None
        return
    with job.named_in_lines(), job.renewing():
        try:
            yield job
        except JobCancelled:
            job.cancel()
        except LeaseLostError:
            logger.warning("Job %s has lost its lease; another worker has it.", job_id)
        except DATABASE_FAULTS as error:
            let_go()
            job.give_back(error)
        except HandedOnError:
            job.hand_on()
            raise
        except Exception as error:  # noqa: BLE001 (the row keeps every failure)
            job.fail(error)
        except BaseException:
            job.release()
            raise
        else:
            job.succeed()
