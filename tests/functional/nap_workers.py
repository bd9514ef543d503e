"""Workers in processes of their own that take naps, for tests that ill-treat them."""

import sys
from pathlib import Path
from typing import Any

from tests.support.processes.installation import environment, migrate, wait_for
from tests.support.processes.workers import STARTED_WITHIN_S, Workers

TAKEN_WITHIN_S = STARTED_WITHIN_S
NAPS = "import tests.functional.nap; from deltaweb.__main__ import main; main()"
DEFAULT = ("--queues", "default")
APART = "apart"  # before the options of a worker whose jobs have their own processes
# One that keeps processes for looks.
LOOKS = (APART, "--queues", "default,interactive", "--threads", "1")
# One that keeps more than it may from its first job on.
_KEEP_LITTLE = (
    "from apps.jobs.running import retirement as r;"
    " r.RETIRE_BYTES = 1; r.RETIRE_AFTER_S = 0"
)
GROWN = (sys.executable, "-c", f"{_KEEP_LITTLE}; {NAPS}", "worker", *DEFAULT)
AT_ONCE = "-"  # for an alarm: the nap is over before it begins
CLOCK = ("beat",)


def installation(home: Path, **variables: str) -> "NapWorkers":
    """An installation that naps; a database that a variable names is migrated."""
    home.mkdir(exist_ok=True)
    if "DELTAWEB_DATABASE_URL" not in variables:
        migrate(home)
    return NapWorkers(
        environment(home, **variables), home / "worker.log", "tests.functional.nap"
    )


class NapWorkers(Workers):
    """Workers that take naps."""

    def nap(self, *words: str) -> dict[str, Any]:
        """Queue, cancel, wake or show a job."""
        row: dict[str, Any] = self.ask(*words)
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

    def reaches_by_sweeps(self, job: dict[str, Any], **expected: object) -> bool:
        """Sweep until the job's row holds what is expected."""
        return wait_for(
            lambda: expected.items() <= self.nap("sweep", job["id"]).items(),
            timeout_s=TAKEN_WITHIN_S,
        )
