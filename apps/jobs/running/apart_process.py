"""What the process of a job that runs apart does: it ends with its worker.

Django is loaded here once, in the process that those of jobs are copies of, before any
of them begins; so this module imports none of it at its top.
"""

import os
import signal
import sys
import threading
from importlib import import_module
from multiprocessing import parent_process
from typing import Final

HANDED_ON: Final = 75
"""How a process ends whose job is to be done in the worker's own."""
_is_apart: list[bool] = []


class HandedOnError(BaseException):
    """The job is to be done in the worker's own process.

    It is no `Exception`: the work that it passes through must not take it for a fault.
    """


def hand_on_if_apart() -> None:
    """Leave what needs what all jobs of a worker share to the worker's own process.

    Raises:
        HandedOnError: If this is a process of one job.
    """
    if _is_apart:
        raise HandedOnError


def load(*names: str) -> None:
    """Load what the processes of jobs are to have from their beginning.

    What is loaded may not begin a thread, nor open a file or connection that it keeps.

    Args:
        names: Modules; and functions that load others, as `module:name`.
    """
    from deltaweb.environment.own_process import (  # noqa: PLC0415
        prepare_process,
        rare_collections,
    )

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


def work(function: str, *arguments: str) -> None:
    """Do a job.

    Args:
        function: What does it, as `module:name`.
        arguments: What that is called with.
    """
    threading.Thread(target=_end_with_worker, name="worker-watch", daemon=True).start()
    # At a terminal an interrupt is for the worker, which lets its jobs end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _is_apart.append(True)
    module, _, name = function.partition(":")
    try:
        getattr(import_module(module), name)(*arguments)
    except HandedOnError:
        sys.exit(HANDED_ON)


def _end_with_worker() -> None:
    """Wait for the end of the worker, and end as it did: another takes the job."""
    worker = parent_process()
    if worker is not None:
        worker.join()
        os.kill(os.getpid(), signal.SIGKILL)
