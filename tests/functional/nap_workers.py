"""Workers in processes of their own that take naps, for tests that ill-treat them."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.installation import ROOT, wait_for

TAKEN_WITHIN_S = 120  # a start alone takes many seconds on a busy machine
CELERY = (sys.executable, "-m", "celery", "-A", "deltaweb")
NAPS = ("--include", "tests.functional.nap")
WORKER = (
    *(*CELERY, "worker", *NAPS, "--pool", "threads", "--concurrency", "2"),
    *("--loglevel", "warning", "--queues", "default"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat"),
)
AT_ONCE = "-"  # for an alarm: the nap is over before it begins
BEAT = (sys.executable, "-m", "deltaweb", "beat")


@dataclass
class Workers:
    """An installation without a web process, and workers to be killed."""

    environment: dict[str, str]
    log: Path
    processes: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

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

    def nap(self, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.functional.nap", *arguments],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        row: dict[str, Any] = json.loads(done.stdout)
        return row

    def reaches_lease_of(self, job: dict[str, Any], expires_s: float) -> bool:
        """Wait until the job's lease lasts beyond a moment, in seconds since 1970."""
        return wait_for(
            lambda: (self.nap("show", job["id"])["lease_expires_s"] or 0) > expires_s,
            timeout_s=TAKEN_WITHIN_S,
        )

    def reaches(self, job: dict[str, Any], **expected: object) -> bool:
        """Wait until the job's row holds what is expected."""
        return wait_for(
            lambda: expected.items() <= self.nap("show", job["id"]).items(),
            timeout_s=TAKEN_WITHIN_S,
        )

    def stop(self) -> None:
        """Kill what still runs."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
