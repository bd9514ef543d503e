"""Starts child processes, starts the fallen again, and stops all of them.

A child asks the kernel to end it when its parent dies, so a killed supervisor leaves
nothing behind; it has a session of its own, so an interrupt typed at the terminal
reaches the supervisor alone, which then stops the children in order.

A child may say when it is ready (`deltaweb.serving.readiness`). Such a child can begin
before the others: it loads, and waits for `run`.
"""

import ctypes
import logging
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from deltaweb.serving.readiness import READY_VARIABLE

logger = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
FIRST_BACK_OFF_S = 1.0
LONGEST_BACK_OFF_S = 60.0
# A child that stayed up this long starts its back-off from the beginning.
STEADY_S = 60.0
STOP_GRACE_S = 8.0
POLL_S = 0.2
STOP_POLL_S = 0.02
_libc = ctypes.CDLL(None, use_errno=True)


class Process(Protocol):
    """What a supervisor does with a child."""

    def poll(self) -> int | None:
        """Return how it has ended; None while it runs."""

    def wait(self) -> object:
        """Wait until it has ended."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it."""


@dataclass(slots=True, kw_only=True)
class Child:
    """One supervised process: its command, and how often it has fallen."""

    name: str
    command: Sequence[str]
    begin: Callable[[Sequence[str], Mapping[str, str]], Process] | None = None
    process: Process | None = None
    started_at_s: float = 0.0
    restart_at_s: float = 0.0
    back_off_s: float = FIRST_BACK_OFF_S
    on_ready: Callable[[], None] | None = None
    ready: socket.socket | None = None


@dataclass(slots=True)
class Supervisor:
    """Runs children until it is told to stop.

    Attributes:
        children: The processes, in the order in which they start.
        stopping: Set by a signal; `run` then stops the children and returns.
        is_running: Whether children that wait for `run` may go on.
    """

    environment: Mapping[str, str]
    children: list[Child] = field(default_factory=list)
    stopping: bool = False
    is_running: bool = False

    def add(
        self,
        name: str,
        command: Sequence[str],
        *,
        begin: Callable[[Sequence[str], Mapping[str, str]], Process] | None = None,
        on_ready: Callable[[], None] | None = None,
    ) -> None:
        """Add a child that `run` starts.

        Args:
            begin: Starts it, by its command and variables; a program without.
            on_ready: Called once, the first time that a program says it is ready.
        """
        child = Child(name=name, command=command, begin=begin, on_ready=on_ready)
        self.children.append(child)

    def begin_loading(self) -> None:
        """Start the children that say when they are ready; they wait for `run`."""
        for child in self.children:
            if child.on_ready is not None:
                self._start(child)

    def request_stop(self, signal_number: int = 0, frame: object = None) -> None:
        """Ask `run` to stop; fit to be a signal handler."""
        del signal_number, frame
        self.stopping = True

    def run(self) -> None:
        """Start the children and keep them up until a signal asks to stop."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.request_stop)
        self.is_running = True
        for child in self.children:
            _release(child)
        try:
            while not self.stopping:
                for child in self.children:
                    self._keep_up(child)
                time.sleep(POLL_S)
        finally:
            self._stop_all()

    def _keep_up(self, child: Child) -> None:
        now_s = time.monotonic()
        if child.process is None:
            if now_s >= child.restart_at_s:
                self._start(child)
            return
        code = child.process.poll()
        if code is None:
            _hear(child)
            return
        if now_s - child.started_at_s > STEADY_S:
            child.back_off_s = FIRST_BACK_OFF_S
        logger.warning(
            "%s ended with code %s; it starts again in %.0f s.",
            child.name,
            code,
            child.back_off_s,
        )
        child.process = None
        child.restart_at_s = now_s + child.back_off_s
        child.back_off_s = min(child.back_off_s * 2, LONGEST_BACK_OFF_S)

    def _start(self, child: Child) -> None:
        child.started_at_s = time.monotonic()
        if child.begin is not None:
            child.process = child.begin(child.command, self.environment)
            return
        environment = dict(self.environment)
        theirs = None
        if child.on_ready is not None:
            child.ready, theirs = socket.socketpair()
            environment[READY_VARIABLE] = str(theirs.fileno())
        child.process = subprocess.Popen(  # noqa: S603 (our own commands)
            child.command,
            env=environment,
            pass_fds=() if theirs is None else (theirs.fileno(),),
            start_new_session=True,
            preexec_fn=partial(end_with_parent, os.getpid()),  # noqa: PLW1509 (one thread starts all children)
        )
        if theirs is not None:
            theirs.close()
        if self.is_running:
            _release(child)

    def _stop_all(self) -> None:
        running = [child.process for child in self.children if child.process]
        for process in running:
            process.terminate()
        deadline_s = time.monotonic() + STOP_GRACE_S
        while any(process.poll() is None for process in running):
            if time.monotonic() > deadline_s:
                break
            time.sleep(STOP_POLL_S)
        for process in running:
            if process.poll() is None:
                process.kill()
            process.wait()


def end_with_parent(parent: int | None = None) -> None:
    """Have this process end when its parent dies, or now if that was another."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if parent not in {None, os.getppid()}:  # it died before the request stood
        os._exit(1)


def _release(child: Child) -> None:
    if child.ready is not None:
        with suppress(OSError):  # it has ended, and starts again
            child.ready.sendall(b"1")


def _hear(child: Child) -> None:
    if child.ready is None or not select.select([child.ready], [], [], 0)[0]:
        return
    if child.ready.recv(1) and child.on_ready is not None:
        child.on_ready()
        child.on_ready = None
    child.ready.close()
    child.ready = None
