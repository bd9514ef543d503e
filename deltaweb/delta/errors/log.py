"""Errors of a log: what it lacks, and what does not read."""

from datetime import datetime
from typing import ClassVar

from deltaweb.delta.errors.base import DeltaError


class TableNotFoundError(DeltaError):
    """No Delta log is under the root, or it holds no commit."""

    code = "not-a-delta-table"

    def __init__(self, *, root: str) -> None:
        super().__init__(
            f"{root} is not a Delta table: no commit is in its _delta_log folder.",
            hint="Give the folder that holds _delta_log.",
        )
        self.root = root


class VersionNotFoundError(DeltaError):
    """The log does not hold the version that was asked for."""

    code = "version-not-found"

    def __init__(self, *, root: str, version: int, earliest: int, latest: int) -> None:
        super().__init__(
            f"{root} has no version {version}.",
            hint=f"Choose a version from {earliest} to {latest}.",
        )
        self.root = root
        self.version = version
        self.earliest = earliest
        self.latest = latest


class TimestampNotFoundError(DeltaError):
    """The table's readable history begins after the time that was asked for."""

    code = "timestamp-not-found"

    def __init__(
        self, *, root: str, timestamp: datetime, earliest: datetime, latest: datetime
    ) -> None:
        super().__init__(
            f"{root} has no version at or before {timestamp.isoformat()}.",
            hint=(
                f"Choose a time from {earliest.isoformat()} to {latest.isoformat()}."
            ),
        )
        self.root = root
        self.timestamp = timestamp
        self.earliest = earliest
        self.latest = latest


class TimestampInvalidError(DeltaError):
    """The text is not a time, or the time has no zone."""

    code = "timestamp-invalid"

    def __init__(self, *, text: str) -> None:
        super().__init__(
            f"{text!r} is not a time with a zone.",
            hint="Write it as 2026-01-31T12:00:00Z.",
        )


class LogGapError(DeltaError):
    """A commit that the version is built from is missing."""

    code = "log-gap"

    def __init__(self, *, root: str, version: int, missing_version: int) -> None:
        super().__init__(
            f"{root} cannot be read at version {version}: "
            f"commit {missing_version} is missing from its log.",
            hint="Restore that commit from a backup, or choose an older version.",
        )
        self.root = root
        self.version = version
        self.missing_version = missing_version


class LogCorruptError(DeltaError):
    """The log breaks a rule that every valid log keeps."""

    code = "log-corrupt"

    def __init__(self, *, path: str, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}.",
            hint="Restore the file from a backup, or choose an older version.",
        )
        self.path = path
        self.reason = reason


class CommitConflictError(DeltaError):
    """Another writer made the version first."""

    code = "commit-conflict"

    def __init__(self, *, root: str, version: int) -> None:
        super().__init__(
            f"{root}: another writer committed version {version} first.",
            hint="Read the table again and repeat the write.",
        )
        self.version = version


class MissingActionError(DeltaError):
    """The log of a version has no protocol, or no metaData."""

    code = "no-metadata"

    def __init__(self, *, root: str, version: int) -> None:
        super().__init__(
            f"{root} has no {self.action} action at version {version}.",
            hint="Restore the log from a backup, or choose another version.",
        )
        self.version = version

    action: ClassVar[str] = "metaData"


class MissingMetadataError(MissingActionError):
    """The log of a version has no metaData."""


class MissingProtocolError(MissingActionError):
    """The log of a version has no protocol."""

    code = "no-protocol"
    action = "protocol"


class CheckpointPartsError(DeltaError):
    """A checkpoint in as many parts is there, and its files are dealt out otherwise."""

    code = "checkpoint-parts-exist"

    def __init__(self, *, root: str, version: int, parts: int) -> None:
        super().__init__(
            f"{root}: version {version} has a checkpoint in {parts} parts already, by "
            "another writer.",
            hint="Ask for another number of parts, or for a single file.",
        )
        self.version = version
        self.parts = parts


class CheckpointCancelledError(DeltaError):
    """Whoever asked for the checkpoint does not want it any more."""

    code = "checkpoint-cancelled"

    def __init__(self, *, root: str, version: int) -> None:
        super().__init__(
            f"{root}: the checkpoint of version {version} was cancelled.",
            hint="The table is as it was; ask again when it is wanted.",
        )
        self.version = version
