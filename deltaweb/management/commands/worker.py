"""`deltaweb worker`: processes that run jobs."""

import os
import warnings
from typing import Final

from django.core.management.base import BaseCommand, CommandParser

from apps.jobs import running
from deltaweb.environment.checks import AT_START
from deltaweb.management import LOOK_THREADS, UNLISTED, copies
from deltaweb.serving.supervisor import Supervisor

LANES: Final = ("interactive", "default,spark")
NICENESS: Final = 10  # a busy machine gives pages nine times as much time


class Command(BaseCommand):
    """Run a Celery worker; threads share its one Spark session."""

    help = "Run jobs from the queues."
    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the queues and the number of threads."""
        lanes = " and ".join(LANES)
        parser.add_argument(
            "--queues",
            help=f"queues of one process; without, one process for {lanes} each",
        )
        parser.add_argument(
            "--threads",
            type=int,
            metavar="N",
            default=2,
            help="jobs at a time (%(default)s)",
        )

    def handle(self, *, queues: str | None, threads: int, **_: object) -> None:
        """Run until a signal stops the worker."""
        if queues is None:
            _run_lanes(threads)
        else:
            _run_worker(queues, threads)


def _run_lanes(threads: int) -> None:
    """Run a process a lane, so that no look waits for other work."""
    copies.begin_loading()
    supervisor = Supervisor(os.environ)
    for queues in LANES:
        count = LOOK_THREADS if queues == LANES[0] else threads
        command = ("worker", "--queues", queues, "--threads", str(count))
        copies.add(supervisor, f"worker of {queues}", command)
    supervisor.run()


def let_pages_go_first(queues: str) -> None:
    """Lower the priority of this process, unless it runs looks."""
    if queues != LANES[0]:
        os.nice(
            max(0, NICENESS - os.nice(0))
        )  # it is inherited by a worker that restarts itself


def _run_worker(queues: str, threads: int) -> None:
    let_pages_go_first(queues)
    # Of what a process that only starts others has no need.
    from celery.platforms import SecurityWarning  # noqa: PLC0415

    from deltaweb.celery import app  # noqa: PLC0415

    # Celery warns of root because of pickle; this worker accepts JSON alone.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    arguments = [
        *("--quiet", "worker", "--pool", "threads", "--concurrency", str(threads)),
        *("--queues", queues, "--loglevel", "warning"),
        *("--hostname", f"{queues.replace(',', '-')}@%h"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]
    try:
        app.worker_main(arguments)
    finally:
        from apps.jobs.tasks import retirement  # noqa: PLC0415 (models load before)

        if retirement.is_due:
            running.retirement.begin_again()
