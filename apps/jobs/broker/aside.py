"""Jobs that ask servers of others, done aside: none of them delays another job.

Such a server may answer slowly, or never. So these jobs have a queue of their own in
the worker that is woken, and a thread that does them one after another, each in a
process apart. Both begin with the first job and end when none waits.
"""

import logging
from collections.abc import Callable
from threading import Lock, Thread

from apps.jobs.running.database_faults import let_go

logger = logging.getLogger(__name__)


class JobsAside:
    """The jobs that wait, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}
        self._thread: Thread | None = None
        self._lock = Lock()

    @property
    def is_idle(self) -> bool:
        """Whether no job waits or is being done."""
        with self._lock:
            return self._thread is None

    def add(self, job_id: str, work: Callable[[], None]) -> None:
        """Let a job be done in its turn; one that waits already is not added."""
        with self._lock:
            self._waiting.setdefault(job_id, work)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="jobs-aside", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while (taken := self._next()) is not None:
            job_id, work = taken
            try:
                work()
            except Exception:
                logger.exception("Job %s could not be done aside.", job_id)
            let_go()
            with self._lock:
                del self._waiting[job_id]

    def _next(self) -> tuple[str, Callable[[], None]] | None:
        """Return the next job; without one the thread ends."""
        with self._lock:
            found = next(iter(self._waiting.items()), None)
            if found is None:
                self._thread = None
            return found
