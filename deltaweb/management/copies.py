"""Workers and the clock as copies of one process, which has loaded what they need.

Each would load the same: a second and a half of a processor and a hundred MiB. The
process that is copied has no connection, and of threads its own alone (`loaded`). It is
the fork server of `multiprocessing`: it ends with the process that began it, and its
copies end with it.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import context, forkserver, resource_tracker
from typing import Any, Final

from django.core.management import execute_from_command_line

from apps.jobs.running import apart
from deltaweb.serving.supervisor import Supervisor, end_with_parent

PROGRAM: Final = "deltaweb"
LOADED: Final = "deltaweb.management.loaded"
_server: Final[list[int]] = []


def begin_loading() -> None:
    """Begin to load, beside what this process does until it needs the first copy."""
    if apart.is_possible():
        forkserver.set_forkserver_preload([LOADED])
        forkserver.ensure_running()


def load_tasks() -> None:
    """Load what Celery looks for, and have copies know this process."""
    from deltaweb.celery import app  # noqa: PLC0415 (settings come first)

    app.loader.init_worker()
    _server.append(os.getpid())


class Copy(context.ForkServerProcess):
    """A command of ours that runs in a copy; a child of a supervisor."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        super().__init__(name=" ".join(command))
        self._command, self._environment = [*command], {**environment}

    def poll(self) -> int | None:
        """Return how it has ended, as `subprocess` says it; None while it runs."""
        return self.exitcode

    def wait(self) -> None:
        self.join()

    def run(self) -> None:
        os.setsid()
        end_with_parent(*_server)
        os.environ.update(self._environment)
        sys.argv = [PROGRAM, *self._command]
        sys.orig_argv = [sys.executable, "-m", *sys.argv]  # for who starts it again
        _copy_the_same_process()
        execute_from_command_line(sys.argv)


def add(supervisor: Supervisor, name: str, command: Sequence[str]) -> None:
    """Have a supervisor run a command: in a copy, or where that cannot be by itself."""
    if apart.is_possible():
        supervisor.add(name, command, begin=_begin)
    else:
        supervisor.add(name, (sys.executable, "-m", PROGRAM, *command))


def _begin(command: Sequence[str], environment: Mapping[str, str]) -> Copy:
    copy = Copy(command, environment)
    copy.start()
    return copy


def _copy_the_same_process() -> None:
    """Have the copies that this copy asks for be made of the process it was made of.

    "A child process will just reuse the forkserver started by its parent", says Python,
    whose `ensure_running` asks for a number that only the parent has.
    """
    inside: Any = forkserver
    inside.ensure_running = resource_tracker.ensure_running
    inside._forkserver.ensure_running = resource_tracker.ensure_running  # noqa: SLF001 (no other way)
