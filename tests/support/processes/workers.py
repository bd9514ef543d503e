"""Workers in processes of their own, for tests that ill-treat them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests.support.processes.installation import ROOT, wait_for

STARTED_WITHIN_S = 120  # a start alone takes many seconds on a busy machine
_NURSERY = (
    *(sys.executable, "-m", "tests.support.processes.lean"),
    "tests.support.processes.nursery",
)


class Process(Protocol):
    """What tests do with a process, whoever has started it."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, number: int, /) -> None: ...

    def kill(self) -> None: ...

    def terminate(self) -> None: ...


@dataclass
class Forked:
    """A process that the nursery has begun, which alone learns how it ends."""

    pid: int
    _ended: Callable[[int], int | None]

    def poll(self) -> int | None:
        return self._ended(self.pid)

    def wait(self, timeout: float | None = None) -> int:
        over = wait_for(
            lambda: self.poll() is not None, timeout_s=timeout or STARTED_WITHIN_S
        )
        code = self.poll()
        assert over
        assert code is not None
        return code

    def send_signal(self, number: int, /) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


@dataclass
class Workers:
    """An installation without a web process, and workers to be killed.

    Attributes:
        environment: The variables of its processes.
        log: What they print.
        module: Its `work` is what a worker does, its `answer` answers for the rest.
        processes: All that were begun, the last one last.
    """

    environment: dict[str, str]
    log: Path
    module: str
    processes: list[Process] = field(default_factory=list)
    _nursery: "subprocess.Popen[str] | None" = None

    def start(self, *words: object) -> Process:
        """Begin a worker, as a copy of a process that has loaded everything."""
        pid = int(self.ask("begin", *words))
        process = Forked(pid, lambda pid: self.ask("ended", pid))
        self.processes.append(process)
        return process

    def start_alone(self, command: tuple[str, ...]) -> Process:
        """Begin a process that loads for itself what it needs."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command,
                env=self.environment,
                cwd=ROOT,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def exactly(self, count: int, *words: object) -> list[Process]:
        """Have so many workers that run, some of them begun before; return them."""
        running = [one for one in self.processes if one.poll() is None]
        for surplus in running[count:]:
            surplus.kill()
            surplus.wait()
        missing = range(count - len(running))
        return [*running[:count], *(self.start(*words) for _ in missing)]

    def ask(self, *words: object) -> Any:  # noqa: ANN401 (whatever is answered)
        """Ask the nursery, which begins with the first question."""
        if self._nursery is None:
            with self.log.open("ab") as log:
                self._nursery = subprocess.Popen(
                    [*_NURSERY, self.module],
                    env=self.environment,
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        print(json.dumps(words, default=str), file=self._nursery.stdin, flush=True)
        answer = self._nursery.stdout.readline()
        assert answer, self.log.read_text()
        return json.loads(answer)

    def stop(self) -> None:
        """Kill what still runs."""
        try:
            self.exactly(0)
        finally:
            if self._nursery is not None:
                self._nursery.kill()
                self._nursery.communicate()
