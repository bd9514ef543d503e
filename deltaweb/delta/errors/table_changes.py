"""Errors of comparing two versions."""

from collections.abc import Sequence
from typing import Final

from deltaweb.delta.errors.base import DeltaError
from deltaweb.delta.errors.data_file import DataFileMissingError

MIB: Final = 1 << 20
MAX_NAMED: Final = 5


class RowDiffTooLargeError(DeltaError):
    """The rows that differ do not fit what comparing them may take."""

    code = "row-diff-too-large"

    def __init__(self, *, limit_bytes: int) -> None:
        super().__init__(
            "The rows of the files that differ are too many to be compared here: "
            f"they pass the limit of {limit_bytes // MIB:,} MiB.",
            hint="Compare versions that are closer together.",
        )
        self.limit_bytes = limit_bytes


class RowDiffKeyError(DeltaError):
    """A column cannot be the key that rows are matched by."""

    code = "row-diff-key-invalid"

    def __init__(self, *, column: str, reason: str) -> None:
        super().__init__(
            f"Rows cannot be matched by the column {column!r}: {reason}.",
            hint="Choose a column that both versions have with the same type.",
        )
        self.column = column


class VersionFilesMissingError(DataFileMissingError):
    """Files of a version that must be read are not in storage."""

    def __init__(self, *, version: int, paths: Sequence[str]) -> None:
        super().__init__(path=paths[0])
        named = ", ".join(paths[:MAX_NAMED])
        more = len(paths) - MAX_NAMED
        rest = f" and {more:,} more" if more > 0 else ""
        self.message = (
            f"Rows of version {version} cannot be read: {len(paths):,} of the files "
            f"that differ are gone from storage, perhaps vacuumed: {named}{rest}."
        )
        self.hint = (
            "What the log says can still be compared; for rows choose versions "
            "whose files are there."
        )
        self.args = (f"{self.message} {self.hint}",)
        self.version = version
        self.paths = tuple(paths)
