"""The errors of reading a change data feed."""

from deltaweb.delta.errors import DataFileMissingError, DeltaError, VersionError


class FeedRangeError(DeltaError, code="change-feed-range"):
    root: str
    reason: str
    message = "{root} has no changes of this range: {reason}."
    hint = "Choose versions or times of the history."


class FeedOffError(VersionError, code="change-feed-off"):
    message = "{root} has no changes at version {version}: its change data feed is off."
    hint = "Choose versions at which delta.enableChangeDataFeed is true."


class FeedSchemaError(VersionError, code="change-feed-schema"):
    """No one schema can show all changes of the range.

    `version` is the newest whose schema does not fit. From `fits_from` on all do; None
    where the newest schema of the table fits nothing of the range.
    """

    reason: str
    fits_from: int | None
    message = (
        "The changes of {root} cannot be shown in one schema: "
        "{until} {version} {reason}."
    )
    hint = "{way_out}"

    @property
    def until(self) -> str:
        return "at version" if self.fits_from is None else "up to version"

    @property
    def way_out(self) -> str:
        if self.fits_from is None:
            return "Ask for the changes of later versions, or compare two versions."
        return f"Ask for the changes from version {self.fits_from} on."


class FeedFileMissingError(DataFileMissingError):
    version: int
    message = "The changes of version {version} cannot be read: {path} is gone."
    hint = "A vacuum may have deleted it; choose later versions."
