"""Checkpoint jobs, and workers that halt within one, for tests that ill-treat them.

python -m tests.functional.maintenance_worker, and

    queue LOCATION VERSION PARTS   prints the job
    wake JOB 6     send its wake-up six times
    work           a worker as it should be
    halt 1 FILE    a worker that makes FILE once so many files have their names, and
                   waits until it is gone
    do JOB BYTES   do a job here, where no file may be larger than that
"""

import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from collections.abc import Callable

TICK_S = 0.05


def main() -> None:
    """Do what the arguments say."""
    django.setup()
    verb, *arguments = sys.argv[1:]
    verbs: dict[str, Callable[..., None]]
    verbs = {"queue": queue, "wake": wake, "work": work, "halt": halt, "do": do}
    verbs[verb](*arguments)


def queue(location: str, version: str, parts: str) -> None:
    """Register a table, without an index, and queue a checkpoint of it."""
    from tests.support.pages.factories import new_table
    from tests.support.pages.operated import request_checkpoint

    table = new_table(Path(location).name, location=location)
    job = request_checkpoint(table, version=int(version), parts=int(parts))
    sys.stdout.write(job.id.hex)


def wake(job_id: str, times: str) -> None:
    """Send the wake-up of a job again and again."""
    from deltaweb.web.jobs.broker.waking import wake as send
    from deltaweb.web.jobs.models import Job

    for _ in range(int(times)):
        send([Job.objects.get(id=job_id)])


def work() -> None:
    """Be a worker of the queue that checkpoints wait in."""
    from django.core.management import call_command

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
    work()


def do(job_id: str, limit: str) -> None:
    """Do a job in this process, whose files are bounded as on a disk that is full."""
    from deltaweb.web.jobs.models import Job
    from tests.support.pages.operated import worked

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    worked(Job.objects.get(id=job_id))


if __name__ == "__main__":
    main()
