"""Jobs in processes of their own, each with a bound of memory.

A job that reads files of others, or evaluates what people write, may take any memory.
So it runs in a copy of a process that has loaded everything, and is looked at while it
does: one that takes more than it may is ended, and its row says so. A job that was
ended for its memory is not tried again by itself; one whose process or worker was
killed otherwise is, as any other (`apps.jobs.sweep`).

What jobs share is the worker's own: a job that finds that it needs Spark is handed on.
"""

import logging
import multiprocessing
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
from apps.jobs.news import tell_moved
from apps.jobs.running import apart_process
from apps.jobs.running.database_faults import persistently
from apps.jobs.running.process import process_name
from deltaweb.environment.memory import memory_kills, own_bytes
from deltaweb.errors import DeltawebError

if TYPE_CHECKING:
    import uuid
    from multiprocessing.process import BaseProcess

logger = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 0.05  # a process takes some 100 MiB meanwhile
LOADED: Final = "apps.jobs.running.apart_loaded"
NEAR: Final = 2  # killed with half of what it may take: for its memory, most probably


class JobMemoryError(DeltawebError, code="job-memory"):
    """A job was ended because it took too much memory."""

    used_bytes: int
    most_bytes: int
    message = (
        "The job was ended when it used {_used} MiB of memory; a job may use {_most}"
        " MiB."
    )
    hint = (
        "It isn't tried again by itself. Let it read fewer rows or columns, or make"
        " shorter texts; DELTAWEB_JOB_MEMORY_BYTES is what an administrator sets."
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
        " {_used} MiB when it was last looked at."
    )


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a process ended.

    Attributes:
        code: As `multiprocessing` tells it: minus the signal that killed it.
        most_bytes: What it was seen to use.
        is_over: Whether it was ended for that.
        is_for_memory: Whether it probably was killed for its memory.
    """

    code: int
    most_bytes: int
    is_over: bool
    is_for_memory: bool


def begin() -> None:
    """Start loading what jobs need, in the process that theirs are copies of."""
    if is_possible():
        forkserver.set_forkserver_preload([LOADED])
        forkserver.ensure_running()


def is_possible() -> bool:
    """Tell whether jobs can run apart: elsewhere libraries may not bear a fork."""
    return sys.platform == "linux"


def work_apart(
    job_id: "str | uuid.UUID", function: str, *arguments: str, here: Callable[[], None]
) -> None:
    """Do a job in a process of its own, and wait for its end.

    Args:
        job_id: The job.
        function: What does it there, as `module:name`.
        arguments: What that is called with.
        here: Does it in this process, where it needs what this one has.
    """
    if not Job.objects.filter(id=job_id, state=Job.State.QUEUED).exists():
        return  # its wake-up came late, or twice
    forkserver.set_forkserver_preload([LOADED])
    process = multiprocessing.get_context("forkserver").Process(
        target=apart_process.work, args=(function, *arguments), daemon=True
    )
    process.start()
    name = process_name(process.pid)
    ending = _watched(process, int(settings.JOB_MEMORY_BYTES))
    if ending.code == apart_process.HANDED_ON:
        here()
    elif ending.is_over or ending.is_for_memory:
        _end(job_id, name, ending)
    elif ending.code:
        logger.warning("The process of job %s ended with %d.", job_id, ending.code)
        if ending.code > 0:  # it did not even begin: then it is done here
            here()


def _watched(process: "BaseProcess", limit_bytes: int) -> _Ending:
    """Wait for the end of a process, and end it where it takes too much."""
    kills = memory_kills()
    most_bytes = 0
    while not wait([process.sentinel], LOOK_INTERVAL_S):
        most_bytes = max(most_bytes, own_bytes(process.pid or 0))
        if most_bytes > limit_bytes:
            process.kill()
            process.join()
            return _Ending(
                -signal.SIGKILL, most_bytes, is_over=True, is_for_memory=True
            )
    process.join()
    code = process.exitcode or 0
    is_near = most_bytes * NEAR > limit_bytes or memory_kills() > kills
    is_for_memory = code == -signal.SIGKILL and is_near
    return _Ending(code, most_bytes, is_over=False, is_for_memory=is_for_memory)


def _end(job_id: "str | uuid.UUID", process: str, ending: _Ending) -> None:
    """Write the end of a job whose process was ended for its memory."""
    kind = JobMemoryError if ending.is_over else JobKilledError
    error = kind(used_bytes=ending.most_bytes, most_bytes=settings.JOB_MEMORY_BYTES)
    logger.warning("Job %s: %s", job_id, error.message)
    held = Job.objects.filter(
        id=job_id, state=Job.State.RUNNING, lease_owner__startswith=f"{process}#"
    )
    ended = persistently(
        lambda: held.update(
            state=Job.State.FAILED,
            lease_owner="",
            lease_expires_at=None,
            finished_at=timezone.now(),
            error_code=error.code,
            error=error.message,
            error_hint=error.hint,
        )
    )
    if ended:
        tell_moved(job_id, is_over=True)
