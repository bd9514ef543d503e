"""What indexing one table came to: small facts, as a Spark task hands them back."""

from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from deltaweb.delta.errors import DeltaError, LogCorruptError, LogGapError
from deltaweb.delta.log.paths import parse_commit_name
from deltaweb.errors import DeltawebError

INDEXED: Final = "INDEXED"
UNSUPPORTED: Final = "UNSUPPORTED"  # metadata and history alone
FAILED: Final = "FAILED"
CANCELLED: Final = "CANCELLED"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexResult:
    """The newest version of a table in facts, or why there are none.

    Attributes:
        state: `INDEXED`, `UNSUPPORTED`, `FAILED` or `CANCELLED`.
        folder: The index folder; empty when it failed.
        delta_id: metaData.id of the log.
        num_records: Sum of their rows; None too where the version may not be read, or
            a file does not tell.
        num_columns: Count of top-level columns; None for a schema that is broken.
        summary: What the overview draws; see `Table.summary`.
        error_detail: A traceback where the failure is our own.
        is_broken: Whether the log goes on behind `version` and cannot be read there;
            the error says why.
        fault: What hides newer versions, in words that fit a line; empty where nothing
            of the log does.
        first_commit: The oldest commit that the log still holds; None where it holds
            none. Older ones are history that only the database keeps.
        is_rewritten: Whether the index that the table had before is of another log:
            a table recreated at the same place, or a backup put back.
        commit_digest: SHA-256 of the beginning of the version's commit; empty where
            the log has none.
    """

    state: str
    folder: str = ""
    version: int | None = None
    committed_at_ms: int | None = None
    delta_id: str = ""
    num_files: int | None = None
    size_bytes: int | None = None
    num_records: int | None = None
    num_tombstones: int | None = None
    num_columns: int | None = None
    partition_columns: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    error_code: str = ""
    error: str = ""
    error_hint: str = ""
    error_detail: str = ""
    is_broken: bool = False
    fault: str = ""
    first_commit: int | None = None
    is_rewritten: bool = False
    commit_digest: str = ""

    @classmethod
    def from_error(cls, error: DeltawebError) -> "IndexResult":
        """The result for a table that is broken, in the error's own words."""
        return cls(state=FAILED).with_error(error)

    def with_error(self, error: DeltawebError | None) -> "IndexResult":
        if error is None:
            return self
        return replace(
            self,
            error_code=error.code,
            error=error.message,
            error_hint=error.hint,
            fault=log_fault(error),
        )

    def to_json(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "IndexResult":
        """The inverse of `to_json`."""
        return cls(**values)


def log_fault(error: DeltawebError) -> str:
    """Say what of a log an error complains of, without a place; "" for other errors."""
    if isinstance(error, LogGapError):
        return f"commit {error.missing_version} is missing"
    if isinstance(error, LogCorruptError):
        version = _commit_of(error)
        name = error.path.rsplit("/", 1)[-1]
        return f"{name if version is None else f'commit {version}'} does not read"
    return ""


def version_before(error: DeltaError) -> int | None:
    """Return the version before the commit that an error complains of, if of one."""
    commit = _commit_of(error)
    return commit - 1 if commit else None


def _commit_of(error: DeltaError) -> int | None:
    if isinstance(error, LogGapError):
        return error.missing_version
    if isinstance(error, LogCorruptError):
        return parse_commit_name(error.path.rsplit("/", 1)[-1])
    return None
