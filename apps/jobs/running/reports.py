"""What work says of itself while it goes on, whoever listens."""

from collections.abc import Callable
from uuid import UUID


class Reports:
    """Hears how far work is, and stops it where somebody wants that: here nobody does.

    A job keeps what it hears in its row (`TrackedJob`).

    Attributes:
        id: Of the job; nothing else has one.
        attempt: 1 the first time that the work is taken up.
    """

    id: UUID
    attempt = 1

    def step(
        self, name: str, *, done: int = 0, total: int | None = None, unit: str = ""
    ) -> None:
        """Begin the next step.

        Args:
            done: How much of the work is done, where steps are its parts.
            total: Of how much; None where the step counts for itself.
        """

    def progress(self, done: int, *, total: int | None = None, unit: str = "") -> None:
        """Say how far the step is; it may raise to stop the work."""

    def progress_of(self, unit: str) -> Callable[[int, int | None], None]:
        """Return what the library tells how far it is, counted in some unit."""
        return lambda done, total: self.progress(done, total=total, unit=unit)

    def count(self, name: str, value: int) -> None:
        """Set a named count."""

    def log(self, text: str) -> None:
        """Add a line to the record of the work."""

    def warn(self, sentence: str) -> None:
        """Say what somebody at a terminal is to know; pages read it off the result."""

    def check_cancelled(self) -> None:
        """Stop here if somebody has asked to cancel; cheap to call in a loop."""

    def check_held(self) -> None:
        """Stop here if the work is no longer this process's."""
