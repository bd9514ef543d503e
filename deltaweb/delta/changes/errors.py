"""The errors of comparing two versions."""

from collections.abc import Sequence
from typing import Final

from deltaweb.delta.errors import DataFileMissingError, DeltaError

MIB: Final = 1 << 20
MAX_NAMED: Final = 5  # files in a sentence


class VersionFilesMissingError(DataFileMissingError):
    version: int
    paths: Sequence[str]
    message = (
        "Rows of version {version} cannot be read: {_count:,} of the files "
        "that differ are gone from storage, perhaps vacuumed: {_named}."
    )
    hint = (
        "What the log says can still be compared; for rows choose versions "
        "whose files are there."
    )

    @property
    def _count(self) -> int:
        return len(self.paths)

    @property
    def _named(self) -> str:
        named = ", ".join(self.paths[:MAX_NAMED])
        more = len(self.paths) - MAX_NAMED
        return f"{named} and {more:,} more" if more > 0 else named


class RowDiffTooLargeError(DeltaError, code="row-diff-too-large"):
    limit_bytes: int
    message = (
        "The files that differ have too many rows to compare: they exceed the limit "
        "of {_limit_mib:,} MiB."
    )
    hint = "Compare versions that are closer to each other."

    @property
    def _limit_mib(self) -> int:
        return self.limit_bytes // MIB


class RowDiffKeyError(DeltaError, code="row-diff-key-invalid"):
    column: str
    reason: str
    message = "Rows cannot be matched by the column {column!r}: {reason}."
    hint = "Choose a column that both versions have with the same type."
