"""What of a session changes the values of SQL."""

from dataclasses import dataclass
from typing import Final

from deltaweb.delta.values.time_zones.known import UTC_ZONE

_NAMES_OF_UTC: Final = frozenset(
    {
        *("UTC", "Z", "GMT", "UT", "+00:00", "+0", "UTC+0", "GMT+0", "GMT0", "UCT"),
        *("Etc/UTC", "Etc/GMT", "Etc/UCT", "Etc/Zulu", "Zulu", "Universal"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """The settings by which an engine evaluates SQL.

    Attributes:
        time_zone: Where times without a zone are from; None where that is not known.
        is_ansi: Whether what has no value is an error, and types are joined as the
            standard says; None where that is not known.
        is_usual: Whether nothing else is set that changes what SQL means.
    """

    time_zone: str | None = UTC_ZONE
    is_ansi: bool | None = True
    is_usual: bool = True

    @property
    def is_utc(self) -> bool:
        """Whether times without a zone are known to be of UTC."""
        return self.time_zone in _NAMES_OF_UTC

    @property
    def own_zone(self) -> str:
        """The zone of what is evaluated in process: UTC where none is known."""
        return self.time_zone or UTC_ZONE

    @property
    def are_ours(self) -> bool:
        """Whether all SQL has the values that it has in process."""
        return self.is_usual and self.is_utc and self.is_ansi is True


OURS: Final = SessionSettings()
"""How SQL is evaluated in process."""
UNKNOWN: Final = SessionSettings(time_zone=None, is_ansi=None)
"""The settings of a session that nobody has told."""
