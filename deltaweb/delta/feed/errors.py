"""The errors of reading a change data feed."""

from deltaweb.delta.errors import DataFileMissingError, DeltaError, VersionError


class FeedRangeError(DeltaError, code="change-feed-range"):
    """The range of versions or times is none, or the log does not reach it."""

    root: str
    reason: str
    message = "{root} has no changes of this range: {reason}."
    hint = "Choose versions, or times, that the history shows."


class FeedOffError(VersionError, code="change-feed-off"):
    """The table does not record its changes at a version of the range."""

    message = "{root} records no changes at version {version}: its feed is off there."
    hint = "Choose versions at which delta.enableChangeDataFeed is true."


class FeedSchemaError(VersionError, code="change-feed-schema"):
    """No one schema can show all changes of the range."""

    reason: str
    message = (
        "The changes of {root} cannot be shown in one schema: "
        "at version {version} {reason}."
    )
    hint = "Ask for the changes before that version and after it by themselves."


class FeedFileMissingError(DataFileMissingError):
    """A file that holds changes of a version is not in storage."""

    version: int
    message = "The changes of version {version} cannot be read: {path} is gone."
    hint = "It was perhaps vacuumed; choose later versions."
