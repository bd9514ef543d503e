"""What a process of jobs that run apart does: one after another, until its worker ends.

Django is loaded here once, in the process that those of jobs are copies of, before any
of them begins; so this module imports none of it at its top.
"""

import os
import signal
import threading
from importlib import import_module
from multiprocessing import parent_process
from typing import TYPE_CHECKING, Final

from apps.jobs import running

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

DONE: Final = "done"
HANDED_ON: Final = "handed on"
"""What a process says of a job that is to be done in the worker's own."""
IDLE_S: Final = 300.0
"""Without a job for so long, a process lets go of what it keeps for the next one."""
_is_apart: list[bool] = []


class HandedOnError(BaseException):
    """The job is to be done in the worker's own process.

    It is no `Exception`: the work that it passes through must not take it for a fault.
    """


def hand_on_if_apart() -> None:
    """Leave what needs what all jobs of a worker share to the worker's own process."""
    if _is_apart:
        raise HandedOnError


def load(*names: str) -> None:
    """Load what the processes of jobs are to have from their beginning.

    What is loaded may not begin a thread, nor open a file or connection that it keeps.

    Args:
        names: Modules; and functions that load others, as `module:name`.
    """
    from deltaweb.environment.own_process import prepare_process, rare_collections  # noqa: PLC0415

    prepare_process()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
    with rare_collections():
        import django  # noqa: PLC0415

        django.setup()
        for name in names:
            module, _, function = name.partition(":")
            loaded = import_module(module)
            if function:
                getattr(loaded, function)()


def serve(jobs: "Connection") -> None:
    """Do the jobs that the worker sends, and say of each how it ended.

    Args:
        jobs: Brings the function of each, as `module:name`, and its arguments.
    """
    threading.Thread(target=_end_with_worker, name="worker-watch", daemon=True).start()
    # At a terminal an interrupt is for the worker, which lets its jobs end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _is_apart.append(True)
    apart_between = running.apart_between  # it imports Django
    apart_between.make_ready()
    while True:
        if not jobs.poll(IDLE_S):
            apart_between.let_go()
            jobs.poll(None)
        try:
            function, *arguments = jobs.recv()
        except EOFError:  # the worker needs this process no longer
            return
        apart_between.before_job()
        answer = _work(function, *arguments)
        apart_between.after_job()
        jobs.send(answer)


def _work(function: str, *arguments: str) -> str:
    module, _, name = function.partition(":")
    try:
        getattr(import_module(module), name)(*arguments)
    except HandedOnError:
        return HANDED_ON
    return DONE


def _end_with_worker() -> None:
    """Wait for the end of the worker, and end as it did: another takes the job."""
    worker = parent_process()
    if worker is not None:
        worker.join()
        os.kill(os.getpid(), signal.SIGKILL)
