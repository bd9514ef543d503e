"""What a table feature is here: its name, and what is done with a table that has it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from deltaweb.delta.protocol.actions import Metadata

Configuration = Mapping[str, str]


class Reading(Enum):
    """What a feature in the list of reader features means for reading."""

    UNCHANGED = "reads as any table of reader version 1"
    REFUSED = "is not read"


class LogWriting(Enum):
    """What a feature means for a checkpoint, and for a clean-up of the log."""

    UNCHANGED = "a checkpoint holds what it always does"
    CARRIED = "a checkpoint holds fields or actions of it, as the log has them"
    REFUSED = "no checkpoint is made, and none is deleted"


@dataclass(frozen=True, slots=True)
class Feature:
    """A table feature by the specification's name, and the answers to it.

    Attributes:
        reading: Whether a version of a protocol with it is read.
        log_writing: Whether the log of such a version is written.
        is_active: Whether a table of this configuration uses it; only then a reading
            that depends on it is refused. None where being listed is enough.
        claims_log: Whether this configuration alone keeps the log from being written.
        protects_log: Whether a version of this configuration, of a table with the
            feature, gets no checkpoint here.
        is_written: Whether rows are written to tables of a protocol with it: its rules
            for writers are kept, or it has none for what is done here.
        asks_writers: Whether a table of this metaData asks what is not done here; of
            another one with the feature rows are written. None where being listed is
            enough.
    """

    name: str
    reading: Reading = Reading.UNCHANGED
    log_writing: LogWriting = LogWriting.UNCHANGED
    is_active: Callable[[Configuration], bool] | None = None
    claims_log: Callable[[Configuration], bool] | None = None
    protects_log: Callable[[Configuration, int], bool] | None = None
    is_written: bool = False
    asks_writers: Callable[[Metadata], bool] | None = None

    def refuses_log(self, configuration: Configuration, version: int) -> bool:
        """Whether the log of a table with it is not written at a version."""
        if self.protects_log is not None and self.protects_log(configuration, version):
            return True
        return self.log_writing is LogWriting.REFUSED

    def refuses_reading(self, configuration: Configuration) -> bool:
        if self.is_active is not None and not self.is_active(configuration):
            return False
        return self.reading is not Reading.UNCHANGED

    def refuses_rows(self, metadata: Metadata) -> bool:
        """Whether no rows are written to a version of this metaData."""
        if self.asks_writers is not None:
            return self.asks_writers(metadata)
        return not self.is_written


def refused(name: str) -> Feature:
    """Return a feature that is neither read nor written here."""
    return Feature(name, Reading.REFUSED, LogWriting.REFUSED)
