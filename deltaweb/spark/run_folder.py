"""What the tasks of one run and their driver report to each other, table by table.

It is a folder of small files, which the driver and all executors see:

    <claims>/<n>        A task of one job works on table n, and no other task shall.
    <n>.cancel          Table n is not wanted any more.
    <n>.progress.json   How far table n is.
    <n>.result.json     What came of table n.
"""

import json
import os
import secrets
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from deltaweb.storage.write_faults import write_fault

REPORT_INTERVAL_S: Final = 0.5
CANCEL: Final = ".cancel"
PROGRESS: Final = ".progress.json"
RESULT: Final = ".result.json"


class TaskProgress(NamedTuple):
    """How far a task is: what is done of a step, of how much, in which unit."""

    step: str
    done: int
    total: int | None
    unit: str


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @classmethod
    @contextmanager
    def begin(cls, scratch: Path) -> "Iterator[RunFolder]":
        """Give a new folder below another one, until the run is over."""
        path = scratch / f"run-{secrets.token_hex(8)}"
        try:
            path.mkdir(parents=True)
        except OSError as error:
            raise write_fault(error, place=str(scratch)) from error
        try:
            yield cls(path)
        finally:
            shutil.rmtree(path, ignore_errors=True)

    # === In a task ===

    def is_cancelled(self, position: int) -> bool:
        """Whether a table is not wanted any more, or none of the run is."""
        return (self.path / f"{position}{CANCEL}").exists() or not self.path.exists()

    def report_progress(self, position: int, progress: TaskProgress) -> None:
        """Say how far a table is; a full disk costs the report, not yet the work."""
        with suppress(OSError):
            _write_json(self.path / f"{position}{PROGRESS}", progress)

    def report_result(self, position: int, values: object) -> bool:
        """Say what came of a table; return whether that was possible."""
        try:
            _write_json(self.path / f"{position}{RESULT}", values)
        except OSError:
            return False
        return True

    # === In the driver ===

    def begin_claims(self) -> "TableClaims | None":
        """Let the tasks of one job take tables; None where that cannot be told."""
        claims = TableClaims(self.path / f"claims-{secrets.token_hex(8)}")
        try:
            claims.path.mkdir()
        except OSError:
            return None
        return claims

    def cancel(self, position: int) -> None:
        """Say that a table is not wanted; what cannot be said is said again."""
        with suppress(OSError):
            (self.path / f"{position}{CANCEL}").touch()

    def take_results(self) -> dict[int, Any]:
        """Return what came of tables since this was asked last."""
        found = {}
        for position in self._positions(RESULT):
            found[position] = _read_json(self.path / f"{position}{RESULT}")
            (self.path / f"{position}{RESULT}").unlink()
            (self.path / f"{position}{PROGRESS}").unlink(missing_ok=True)
        return found

    def progress(self) -> dict[int, TaskProgress]:
        """Return how far the tables are that are being worked on."""
        return {
            n: TaskProgress(*_read_json(self.path / f"{n}{PROGRESS}"))
            for n in self._positions(PROGRESS)
        }

    def forget(self, positions: Collection[int]) -> None:
        """Drop how far tables were that are begun again."""
        for position in positions:
            (self.path / f"{position}{PROGRESS}").unlink(missing_ok=True)

    def _positions(self, suffix: str) -> list[int]:
        return sorted(
            int(name.removesuffix(suffix))
            for name in os.listdir(self.path)  # noqa: PTH208 (names are enough)
            if name.endswith(suffix) and not name.startswith(".")
        )


@dataclass(frozen=True, slots=True)
class TableClaims:
    """Which tables the tasks of one job have taken.

    A task may go on for seconds after its job has ended early. It takes no table then:
    those that are left are for the tasks of the next job.
    """

    path: Path

    def claim(self, position: int) -> bool:
        """Take a table, if no other task has it, and the job goes on."""
        try:
            (self.path / str(position)).touch(exist_ok=False)
        except (FileExistsError, FileNotFoundError):
            return False
        return True

    def end(self) -> set[int]:
        """Let no table be taken any more, and return those that were."""
        ended = self.path.with_suffix(".ended")
        self.path.rename(ended)
        return {int(path.name) for path in ended.iterdir()}


class RunCancelledError(Exception):
    """Raised in the work on a table that is not wanted any more."""


@dataclass(slots=True)
class TaskReporter:
    """Reports how far a task is, not too often, and looks whether it is wanted.

    Attributes:
        folder: The run's folder; where an executor does not see it, nothing is said.
    """

    folder: RunFolder
    position: int
    _due_s: float = field(default=0.0, init=False)

    @property
    def is_cancelled(self) -> bool:
        """Whether the table is not wanted any more."""
        return self.folder.is_cancelled(self.position)

    def report(self, step: str, done: int, total: int | None, unit: str) -> None:
        """Report, if the last report is not too new."""
        if time.monotonic() >= self._due_s:
            self._due_s = time.monotonic() + REPORT_INTERVAL_S
            progress = TaskProgress(step, done, total, unit)
            self.folder.report_progress(self.position, progress)

    def __call__(self, step: str, done: int, total: int | None, unit: str) -> None:
        """Report, if the table is wanted."""
        if time.monotonic() >= self._due_s and self.is_cancelled:
            raise RunCancelledError
        self.report(step, done, total, unit)


def _write_json(path: Path, values: object) -> None:
    """Write a small file whole, so that a reader never sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(values), encoding="utf-8")
    beside.replace(path)


def _read_json(path: Path) -> Any:  # noqa: ANN401 (any JSON)
    return json.loads(path.read_text(encoding="utf-8"))
