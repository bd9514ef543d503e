"""The error of a time zone that is not one."""

from collections.abc import Sequence

from deltaweb.delta.errors import DeltaError


class TimeZoneUnknownError(DeltaError, code="time-zone-unknown"):
    """No time zone is called so.

    Attributes:
        nearest: Zones that may be meant.
    """

    name: str
    nearest: Sequence[str] = ()
    message = "No time zone is called {name!r}."
    hint = "{_meant}Give one such as America/New_York, UTC or +05:30."

    @property
    def _meant(self) -> str:
        return f"Did you mean {' or '.join(self.nearest)}? " if self.nearest else ""
