"""Checkpoint jobs, and workers that halt within one, for tests that ill-treat them.

A nursery begins these processes (`work`):

    work           a worker as it should be
    halt 1 FILE    a worker that makes FILE once so many files have their names, and
                   waits until it is gone
    do JOB BYTES   does a job, where no file may be larger than that

and one process does what else is asked (`answer`):

    queue LOCATION VERSION PARTS   is answered by the job
    wake JOB 6     sends its wake-up six times
"""

import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TICK_S = 0.05


def answer(verb: str, *arguments: str) -> str:
    """Do what is asked."""
    verbs: dict[str, Callable[..., str]] = {"queue": queue, "wake": wake}
    return verbs[verb](*arguments)


def work(verb: str, *arguments: str) -> None:
    """Be the process that is asked for."""
    verbs: dict[str, Callable[..., None]]
    verbs = {"work": work_well, "halt": halt, "do": do}
    verbs[verb](*arguments)


def queue(location: str, version: str, parts: str) -> str:
    """Register a table, without an index, and queue a checkpoint of it."""
    from tests.support.pages.factories import new_table
    from tests.support.pages.operated import request_checkpoint

    folder = Path(location)
    table = new_table(f"{folder.parent.name}.{folder.name}", location=location)
    job = request_checkpoint(table, version=int(version), parts=int(parts))
    return str(job.id.hex)


def wake(job_id: str, times: str) -> str:
    """Send the wake-up of a job again and again."""
    from apps.jobs.broker.waking import wake as send
    from apps.jobs.models import Job

    for _ in range(int(times)):
        send([Job.objects.get(id=job_id)])
    return job_id


def work_well() -> None:
    """Be a worker of the queue that checkpoints wait in."""
    from django.core.management import call_command

    from apps.jobs.running import apart

    setattr(apart, "is_possible", lambda: False)  # noqa: B010  # it needs none
    call_command("worker", "--queues", "spark", "--threads", "1")


def halt(count: str, marker: str) -> None:
    """Be a worker that halts when so many files of a checkpoint have their names."""
    from deltaweb.storage.local_pending import LocalPendingFile

    commit = LocalPendingFile.commit
    committed: list[LocalPendingFile] = []

    def commit_or_halt(file: LocalPendingFile) -> None:
        if len(committed) == int(count):
            Path(marker).touch()
            while Path(marker).exists():
                time.sleep(TICK_S)
        committed.append(file)
        commit(file)

    setattr(LocalPendingFile, "commit", commit_or_halt)  # noqa: B010  # to halt
    work_well()


def do(job_id: str, limit: str) -> None:
    """Do a job in this process, whose files are bounded as on a disk that is full."""
    from apps.jobs.models import Job
    from tests.support.pages.operated import worked

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    worked(Job.objects.get(id=job_id))
