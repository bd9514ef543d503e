"""Jobs in processes of their own, each with a bound of memory.

A job that reads files of others, or evaluates what people write, may take any memory.
So it runs in a copy of a process that has loaded everything (`apart_pool`), which is
looked at meanwhile: one that takes more than it may is ended, and the job's row says
so. A job that was ended for its memory is not tried again by itself; one whose process
or worker was killed otherwise is, as any other (`apps.jobs.sweep`).

What jobs share is the worker's own: a job that finds that it needs Spark is handed on.
"""

import logging
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.utils import timezone

from apps.jobs.models import Job
from apps.jobs.running import apart_process
from apps.jobs.running.apart_pool import (
    FINDS_APPS,
    LOADED,
    JobProcess,
    JobProcesses,
)
from apps.jobs.running.database_faults import persistently
from apps.jobs.running.failures import write_end
from apps.jobs.running.news import tell_moved
from deltaweb.environment.memory import memory_kills, own_bytes
from deltaweb.errors import DeltawebError

if TYPE_CHECKING:
    import uuid

logger = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 0.05  # a process takes some 100 MiB meanwhile
NEAR: Final = 2  # killed with half of what it may take: for its memory, most probably
_processes: Final = JobProcesses()


class JobMemoryError(DeltawebError, code="job-memory"):
    """A job was ended because it took too much memory."""

    used_bytes: int
    most_bytes: int
    message = (
        "The job was ended when it used {_used} MiB of memory; a job may use {_most}"
        " MiB."
    )
    hint = (
        "It is not retried automatically. Let it read fewer rows or columns, or"
        " make shorter texts. An administrator can raise DELTAWEB_JOB_MEMORY_BYTES."
    )

    @property
    def _used(self) -> str:
        return f"{self.used_bytes >> 20:,}"

    @property
    def _most(self) -> str:
        return f"{self.most_bytes >> 20:,}"


class JobKilledError(JobMemoryError):
    """The system has ended a job, because memory was short."""

    message = (
        "The worker was killed, probably because it used more memory than there is:"
        " {_used} MiB when it was last measured."
    )


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a job ended that ran apart.

    Attributes:
        code: Of the process, as `multiprocessing` tells it: minus the signal that
            killed it.
        is_over: Whether it was ended for that.
        is_for_memory: Whether it probably was killed for its memory.
        is_handed_on: Whether it is to be done in this process.
    """

    code: int
    most_bytes: int
    is_over: bool = False
    is_for_memory: bool = False
    is_handed_on: bool = False


def begin(*, num_kept: int = 0) -> None:
    """Start loading what jobs need, in the process that theirs are copies of.

    Args:
        num_kept: How many processes wait for the next job that looks.
    """
    if is_possible():
        forkserver.set_forkserver_preload([FINDS_APPS, LOADED])
        forkserver.ensure_running()
        _processes.num_kept = num_kept
        _processes.prepare()


def is_possible() -> bool:
    """Tell whether jobs can run apart: elsewhere libraries may not bear a fork."""
    return sys.platform == "linux"


def work_apart(
    job_id: "str | uuid.UUID",
    function: str,
    *arguments: str,
    here: Callable[[], None],
    is_kept: bool = False,
) -> None:
    """Do a job in a process apart, and wait for its end.

    Args:
        function: What does it there, as `module:name`.
        arguments: What that is called with.
        is_kept: Whether the process may have done other jobs, and do more.
    """
    if not is_kept and not _waits(job_id):
        return  # its wake-up came late, or twice
    with _processes.taken(is_kept=is_kept) as process:
        held_bytes = process.begin(function, *arguments)
        most_bytes = held_bytes + int(settings.JOB_MEMORY_BYTES)
        ending = _watched(process, held_bytes, most_bytes)
    if ending.is_handed_on:
        here()
    elif ending.is_over or ending.is_for_memory:
        _end(job_id, process.name, ending)
    elif ending.code:
        logger.warning("The process of job %s ended with %d.", job_id, ending.code)
        if ending.code > 0 and _waits(job_id):  # it did not even begin
            here()


def _waits(job_id: "str | uuid.UUID") -> bool:
    return Job.objects.filter(id=job_id, state=Job.State.QUEUED).exists()


def _watched(process: JobProcess, held_bytes: int, limit_bytes: int) -> _Ending:
    """Wait for the end of a job, and end its process where it takes too much."""
    kills = memory_kills()
    most_bytes = 0
    while not wait([process.answers, process.process.sentinel], LOOK_INTERVAL_S):
        most_bytes = max(most_bytes, own_bytes(process.pid))
        if most_bytes > limit_bytes:
            process.process.kill()
            process.process.join()
            return _Ending(-signal.SIGKILL, most_bytes - held_bytes, is_over=True)
    answer = process.answer()
    if answer is not None:
        is_handed_on = answer == apart_process.HANDED_ON
        return _Ending(0, most_bytes - held_bytes, is_handed_on=is_handed_on)
    process.process.join()
    code = process.process.exitcode or 0
    used_bytes = most_bytes - held_bytes
    is_near = used_bytes * NEAR > limit_bytes - held_bytes or memory_kills() > kills
    is_for_memory = code == -signal.SIGKILL and is_near
    return _Ending(code, used_bytes, is_for_memory=is_for_memory)


def _end(job_id: "str | uuid.UUID", process: str, ending: _Ending) -> None:
    """Write the end of a job whose process was ended for its memory."""
    kind = JobMemoryError if ending.is_over else JobKilledError
    error = kind(used_bytes=ending.most_bytes, most_bytes=settings.JOB_MEMORY_BYTES)
    logger.warning("Job %s: %s", job_id, error.message)
    held = Job.objects.filter(
        id=job_id, state=Job.State.RUNNING, lease_owner__startswith=f"{process}#"
    )
    fields = {
        "state": Job.State.FAILED,
        "lease_owner": "",
        "lease_expires_at": None,
        "finished_at": timezone.now(),
        "error_code": error.code,
        "error": error.message,
        "error_hint": error.hint,
    }
    if persistently(lambda: write_end(job_id, held, fields)):
        tell_moved(job_id, is_over=True)
