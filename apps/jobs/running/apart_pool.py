"""Processes of jobs that run apart, loaded and waiting for the next one.

Each is a copy of a process that has loaded everything (`apart_loaded`). One that has
done a job waits for the next, with what it has read; one that has grown ends, and what
is to come finds another that was made meanwhile.
"""

import contextlib
import multiprocessing
from collections.abc import Iterator
from multiprocessing import forkserver
from threading import Lock, Thread
from typing import Final

from apps.jobs.running import apart_process
from apps.jobs.running.process import process_name
from deltaweb.environment.memory import own_bytes

FINDS_APPS: Final = "deltaweb.environment.site"
"""A new interpreter imports it first: it has no `sys.path` of this process."""
LOADED: Final = "apps.jobs.running.apart_loaded"
GROWN_BYTES: Final = 384 << 20
"""A process that has taken so much more than at its beginning does no other job."""


class JobProcess:
    """A process that does jobs, one at a time.

    Attributes:
        name: As leases call it.
        answers: Brings what it says of a job at its end.
    """

    def __init__(self) -> None:
        forkserver.set_forkserver_preload([FINDS_APPS, LOADED])
        self.answers, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("forkserver").Process(
            target=apart_process.serve, args=(theirs,), daemon=True
        )
        self.process.start()
        theirs.close()
        self.name = process_name(self.process.pid)
        self._first_bytes: int | None = None

    @property
    def pid(self) -> int:
        return self.process.pid or 0

    @property
    def is_alive(self) -> bool:
        return self.process.is_alive()

    def begin(self, function: str, *arguments: str) -> int:
        """Have it do a job.

        Returns:
            What it takes already.
        """
        with contextlib.suppress(OSError):  # it has died: whoever waits for it sees it
            self.answers.send((function, *arguments))
        held_bytes = own_bytes(self.pid)
        if self._first_bytes is None:
            self._first_bytes = held_bytes
        return held_bytes

    def answer(self) -> str | None:
        """Return what it says of the job that it has done; None where it has died."""
        try:
            said: str = self.answers.recv() if self.answers.poll() else ""
        except (EOFError, OSError):
            return None
        return said or None

    def has_grown(self) -> bool:
        """Whether what it keeps is too much to go on."""
        return own_bytes(self.pid) - (self._first_bytes or 0) > GROWN_BYTES

    def end(self) -> None:
        """Let it end: no job follows."""
        self.answers.close()


class JobProcesses:
    """The processes of a worker.

    Attributes:
        num_kept: How many wait for a job at most.
    """

    def __init__(self, num_kept: int = 0) -> None:
        self.num_kept = num_kept
        self._waiting: list[JobProcess] = []
        self._num_at_work = 0
        self._lock = Lock()
        self._preparing = Lock()

    def prepare(self) -> None:
        """Have a process that waits, if none does."""
        with self._preparing:
            if self._lacks_one:
                self._keep(JobProcess(), is_new=True)

    @property
    def _lacks_one(self) -> bool:
        """Whether none waits, nor will when those at work that are kept come back."""
        return not self._waiting and self._num_at_work < self.num_kept

    @contextlib.contextmanager
    def taken(self, *, is_kept: bool) -> Iterator[JobProcess]:
        """Give a process for one job.

        Args:
            is_kept: Whether it may have done other jobs, and do more afterwards.
        """
        process = self._take() if is_kept else JobProcess()
        if is_kept and self._lacks_one:
            Thread(target=self.prepare, name="prepare-process", daemon=True).start()
        is_done = False  # or it is at work yet, and answers for this job later
        try:
            yield process
            is_done = True
        finally:
            self._count(-is_kept)
            may_stay = is_kept and is_done and process.is_alive
            if may_stay and not process.has_grown():
                self._keep(process)
            else:
                process.end()
                self.prepare()

    def _count(self, change: int) -> None:
        with self._lock:
            self._num_at_work += change

    def _take(self) -> JobProcess:
        """Return the one that was used last: what it has read is asked for again.

        One that is being made is waited for, and another made where none waits.
        """
        with self._preparing:
            process = self._waiting_one() or JobProcess()
            self._count(1)
        return process

    def _waiting_one(self) -> JobProcess | None:
        with self._lock:
            while self._waiting:
                process = self._waiting.pop()
                if process.is_alive:
                    return process
                process.end()
        return None

    def _keep(self, process: JobProcess, *, is_new: bool = False) -> None:
        """Let it wait; a new one, which has read nothing, is taken after the others."""
        with self._lock:
            self._waiting.insert(0 if is_new else len(self._waiting), process)
            num_over = max(0, len(self._waiting) - self.num_kept)
            over, self._waiting = self._waiting[:num_over], self._waiting[num_over:]
        for process_over in over:
            process_over.end()
