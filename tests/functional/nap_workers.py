"""Workers in processes of their own that take naps, for tests that ill-treat them."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.processes.installation import (
    ROOT,
    environment,
    migrate,
    run,
    wait_for,
)

TAKEN_WITHIN_S = 120  # a start alone takes many seconds on a busy machine
# `deltaweb`, with naps among the kinds of jobs.
NAPS = "import tests.functional.nap; from deltaweb.__main__ import main; main()"
WORKER = (sys.executable, "-c", NAPS, "worker", "--queues", "default")
# One that keeps processes for looks.
LOOKS = (*WORKER[:-1], "default,interactive", "--threads", "1")
# One that keeps more than it may from its first job on.
_KEEP_LITTLE = (
    "from deltaweb.web.jobs.running import retirement as r;"
    " r.RETIRE_BYTES = 1; r.RETIRE_AFTER_S = 0"
)
GROWN = (sys.executable, "-c", f"{_KEEP_LITTLE}; {NAPS}", *WORKER[3:])
AT_ONCE = "-"  # for an alarm: the nap is over before it begins
BEAT = (sys.executable, "-m", "deltaweb", "beat")


def installation(home: Path, **variables: str) -> "Workers":
    """An installation that naps; a database that a variable names is migrated."""
    home.mkdir(exist_ok=True)
    if "DELTAWEB_DATABASE_URL" not in variables:
        migrate(home)
    return Workers(environment(home, **variables), home / "worker.log")


def migrate_database(home: Path, url: str) -> None:
    """Give a database of a server the newest migrations."""
    home.mkdir(exist_ok=True)
    migrated = run(home, "migrate", "--verbosity", "0", DELTAWEB_DATABASE_URL=url)
    assert migrated.returncode == 0, migrated.stderr


@dataclass
class Workers:
    """An installation without a web process, and workers to be killed."""

    environment: dict[str, str]
    log: Path
    processes: "list[subprocess.Popen[Any]]" = field(default_factory=list)
    _asked: "subprocess.Popen[str] | None" = None

    def start(self, command: tuple[str, ...] = WORKER) -> "subprocess.Popen[bytes]":
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

    def nap(self, *words: str) -> dict[str, Any]:
        """Queue, cancel, wake or show a job, by one process for all that is asked."""
        if self._asked is None:
            self._asked = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.support.processes.lean",
                    "tests.functional.nap",
                ],
                env=self.environment,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.processes.append(self._asked)
        assert self._asked.stdin is not None
        assert self._asked.stdout is not None
        print(json.dumps(words), file=self._asked.stdin, flush=True)
        row: dict[str, Any] = json.loads(self._asked.stdout.readline())
        return row

    def show(self, job: dict[str, Any]) -> dict[str, Any]:
        """The job's row as it is now."""
        return self.nap("show", job["id"])

    def reaches_lease_of(self, job: dict[str, Any], expires_s: float) -> bool:
        """Wait until the job's lease lasts beyond a moment, in seconds since 1970."""
        return wait_for(
            lambda: (self.show(job)["lease_expires_s"] or 0) > expires_s,
            timeout_s=TAKEN_WITHIN_S,
        )

    def reaches(self, job: dict[str, Any], **expected: object) -> bool:
        """Wait until the job's row holds what is expected."""
        return wait_for(
            lambda: expected.items() <= self.show(job).items(), timeout_s=TAKEN_WITHIN_S
        )

    def stop(self) -> None:
        """Kill what still runs."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
