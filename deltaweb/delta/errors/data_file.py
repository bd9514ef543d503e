"""Errors of data files."""

from deltaweb.delta.errors.base import DeltaError


class DataFileError(DeltaError):
    """A data file cannot be read as Parquet of this table."""

    code = "data-file-corrupt"

    def __init__(self, *, path: str, reason: str) -> None:
        super().__init__(
            f"The data file {path} cannot be read: {reason}.",
            hint="Restore the file from a backup, or choose another version.",
        )
        self.path = path
        self.reason = reason


class DataFileMissingError(DataFileError):
    """A file of the version is not in storage."""

    code = "data-file-missing"

    def __init__(self, *, path: str) -> None:
        super().__init__(path=path, reason="it is gone from storage, perhaps vacuumed")


class PathEscapesTableError(DataFileError):
    """A path of the log leads outside the table's root."""

    code = "path-outside-table"

    def __init__(self, *, path: str) -> None:
        super().__init__(
            path=path, reason="its path leads outside the table, and is not followed"
        )
