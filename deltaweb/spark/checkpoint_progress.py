"""How far the tasks of a checkpoint are, and whether they shall stop.

Tasks tell it by small files in a folder. Executors that do not see the folder work all
the same: they are then stopped by Spark, and tell nothing.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deltaweb.delta.checkpoint_writer.request import CheckpointRequest
from deltaweb.delta.errors import CheckpointCancelledError
from deltaweb.delta.log_store import LogStore

REPORT_INTERVAL_S: Final = 0.3
STOPS_WITHIN_S: Final = 10
CANCEL: Final = "cancel"
DONE: Final = ".done"


@dataclass(slots=True)
class TaskProgress:
    """What one task tells: it travels there.

    Attributes:
        folder: Where the files are.
        name: The task, equal for all its attempts.
    """

    folder: str
    name: str
    _due: float = 0.0

    def tell(self, done: int, total: int) -> None:
        """Write down how many file actions are done, of about how many, not too often.

        A full disk costs only that.
        """
        if time.monotonic() < self._due and done < total:
            return
        self._due = time.monotonic() + REPORT_INTERVAL_S
        beside = Path(self.folder, f".{self.name}.{secrets.token_hex(4)}")
        with contextlib.suppress(OSError):
            beside.write_text(f"{done} {total}", encoding="ascii")
            beside.replace(Path(self.folder, f"{self.name}{DONE}"))

    def is_cancelled(self) -> bool:
        """Tell whether the work shall stop."""
        return Path(self.folder, CANCEL).exists()

    def check(self, store: LogStore, version: int) -> None:
        """Stop here if the work shall stop.

        Raises:
            CheckpointCancelledError: If so.
        """
        if self.is_cancelled():
            raise CheckpointCancelledError(root=store.root, version=version)


class ProgressWatch:
    """Tells whoever asked for a checkpoint how far it is, and its tasks to stop.

    Called some times a second while tasks work. A stop is asked of the tasks first,
    so that each takes away what it has begun.

    Args:
        folder: Where the files are.
        request: What is wanted.
        cancelled: Makes the error of a checkpoint that nobody wants any more.

    Attributes:
        error: What stops the work; None as long as it is wanted.
    """

    def __init__(
        self,
        folder: Path,
        request: CheckpointRequest,
        cancelled: Callable[[], CheckpointCancelledError],
    ) -> None:
        self.error: BaseException | None = None
        self._folder = folder
        self._request = request
        self._cancelled = cancelled
        self._told = 0
        self._stop_by = 0.0

    def __call__(self, _done: int, _total: int | None) -> None:
        """Look once.

        Raises:
            BaseException: What stops the work, where tasks did not stop by themselves.
        """
        if self.error is not None:
            if time.monotonic() > self._stop_by:
                raise self.error
            return
        try:
            self._look()
        except BaseException as error:  # noqa: BLE001 (whoever asked may stop the work by any)
            self.error = error
            self._stop_by = time.monotonic() + STOPS_WITHIN_S
            (self._folder / CANCEL).touch()

    def _look(self) -> None:
        if self._request.is_cancelled is not None and self._request.is_cancelled():
            raise self._cancelled()
        if self._request.on_progress is not None:
            done, total = self._count()
            if total:
                self._told = max(done, self._told)
                self._request.on_progress(min(self._told, total), total)

    def _count(self) -> tuple[int, int]:
        """Add up what all tasks told."""
        done = total = 0
        with os.scandir(self._folder) as entries:
            names = [e.name for e in entries if e.name.endswith(DONE)]
        for name in names:
            told = (self._folder / name).read_text(encoding="ascii").split()
            done += int(told[0])
            total = max(total, int(told[1]))
        return done, total
