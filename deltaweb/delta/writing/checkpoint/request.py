"""What is wanted of a checkpoint, and what came of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from deltaweb.delta.errors import CheckpointCancelledError
from deltaweb.delta.log.store import LogStore

MAX_PARTS: Final = 256  # all are open at once

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CheckpointRequest:
    """What is wanted of a checkpoint.

    Attributes:
        parts: Into how many files; None leaves it to `rows_per_part`.
        rows_per_part: Actions a file, about, or more where `MAX_PARTS` files do not
            suffice; a single file for None.
        now: The time by which tombstones expire; aware.
        on_progress: Called with the file actions that were taken, and how many there
            are about; it may raise to stop the work.
        is_cancelled: Asked between two pieces of work.
    """

    now: datetime
    version: int | None = None
    parts: int | None = None
    rows_per_part: int | None = None
    on_progress: Progress | None = None
    is_cancelled: Callable[[], bool] | None = None

    @property
    def is_single(self) -> bool:
        """Whether the checkpoint is one file by its name, too."""
        return self.parts is None and self.rows_per_part is None

    def check(self) -> None:
        """Check that the numbers are of use."""
        for count in (self.parts, self.rows_per_part):
            if count is not None and count < 1:
                message = "parts and rows_per_part are whole numbers from 1"
                raise ValueError(message)
        if self.parts is not None and self.parts > MAX_PARTS:
            message = f"a checkpoint has {MAX_PARTS} parts at most"
            raise ValueError(message)

    def check_wanted(self, store: LogStore, version: int) -> None:
        """Stop here if nobody wants the checkpoint any more."""
        if self.is_cancelled is not None and self.is_cancelled():
            raise CheckpointCancelledError(root=store.root, version=version)


@dataclass(frozen=True, slots=True)
class WrittenCheckpoint:
    """A checkpoint that was written.

    Attributes:
        is_last: Whether `_last_checkpoint` names it; not where a newer one is there.
    """

    version: int
    names: tuple[str, ...]
    num_actions: int
    num_files: int
    num_tombstones: int
    size_bytes: int
    is_last: bool
