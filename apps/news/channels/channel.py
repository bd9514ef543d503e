"""What a channel does: it takes topics to every process that listens."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol


class Listener(Protocol):
    """The end of a channel at which one process listens."""

    def hear(self, timeout_s: float) -> Sequence[str]:
        """Return topics that were sent, none when the time is over.

        Raises:
            Exception: If the channel is cut; each kind has errors of its own.
        """

    def check(self) -> None:
        """Find out whether the channel still is what it was.

        Raises:
            Exception: If it is cut.
        """


class Channel(Protocol):
    """A way to other processes."""

    def load(self) -> None:
        """Import what the first news would wait for; connect to nothing."""

    def send(self, topics: Sequence[str]) -> None:
        """Tell everybody who listens.

        Raises:
            Exception: If the channel is cut; each kind has errors of its own.
        """

    def listening(self) -> AbstractContextManager[Listener]:
        """Listen for the length of the block.

        Raises:
            Exception: If the channel is cut.
        """
