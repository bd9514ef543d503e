"""How long the parts of a write took, as its history says it.

Names are those of the reference implementation: what is to be written again is found
(`scanTimeMs`), then written (`rewriteTimeMs`).
"""

from dataclasses import dataclass, field
from time import monotonic


@dataclass(slots=True)
class WorkTimes:
    """Times of one write, in seconds of a clock that only goes on.

    Attributes:
        found: When it was known which files it is about; None before.
    """

    started: float = field(default_factory=monotonic)
    found: float | None = None

    def end_scan(self) -> None:
        """Note that the files are known."""
        self.found = monotonic()

    def metrics(self) -> dict[str, int]:
        """Return the times up to now, in milliseconds."""
        now = monotonic()
        found = self.started if self.found is None else self.found
        return {
            "executionTimeMs": _ms(now - self.started),
            "scanTimeMs": _ms(found - self.started),
            "rewriteTimeMs": _ms(now - found),
        }


def _ms(seconds: float) -> int:
    return int(seconds * 1_000)
