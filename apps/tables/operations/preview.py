"""What an operation would do, and what of it somebody has agreed to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from apps.jobs.running.reports import Reports
from apps.tables.index.engine import Engine
from apps.tables.operations.stored import StoredPreview
from deltaweb.delta.protocol.actions import SetTransaction

if TYPE_CHECKING:
    import pyarrow as pa

    from deltaweb.storage.place import TablePlace


D = TypeVar("D")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationPreview(Generic[D]):
    """What an operation would do: a page, a command and a job's result say the same.

    Attributes:
        version: The version of the table that was looked at; None where there is no
            table yet.
        counts: What somebody agrees to: where these are others when it is done, it is
            not done, and shown again.
        detail: Finds what else is shown: a dataclass of a bounded size, because a job
            keeps it.
        lines: More of it, for a person who reads text; a table of rows is one.
        exact: What a command's document has in full, where the detail is bounded, or
            by a name of its own. Tables of rows are lists of objects there.
    """

    version: int | None
    counts: Mapping[str, int]
    detail: Callable[[], D]
    is_empty: bool = False
    says: str = ""
    lines: "Callable[[], Iterable[str | pa.Table]]" = tuple
    exact: Callable[[], Mapping[str, Any]] = dict

    def stored(self, *, at: datetime) -> StoredPreview[D]:
        """Return it as a job keeps it.

        Args:
            at: When the table was looked at.
        """
        return StoredPreview(
            at=at,
            version=self.version,
            counts=self.counts,
            detail=self.detail(),
            is_empty=self.is_empty,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BackAndGone:
    """The files that an operation brings back, and those that it removes.

    Attributes:
        rows_back: Rows of the files that come back; None if their statistics do not
            say, as in the next three.
        missing: The first of the files that storage lacks.
    """

    bytes_back: int
    bytes_gone: int
    rows_back: int | None
    rows_gone: int | None
    rows_now: int | None
    rows_then: int | None
    changes_metadata: bool
    changes_schema: bool
    num_missing: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What somebody has looked at and agreed to.

    Attributes:
        job: The id of the job that found it out.
        version: As in `OperationPreview`.
        counts: As in `OperationPreview`.
        by: Who agreed, as the log is to name them.
    """

    job: str
    at: datetime
    version: int | None
    counts: Mapping[str, int]
    by: str

    def to_json(self) -> dict[str, Any]:
        """Return it as the parameters of a job keep it."""
        return {**asdict(self), "counts": dict(self.counts), "at": self.at.isoformat()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Approval":
        """Read what `to_json` wrote."""
        return cls(**{**values, "at": datetime.fromisoformat(values["at"])})


def no_place() -> "TablePlace":
    """Refuse to say where a table is that is yet to be made."""
    message = "an operation without a table says what it opens"
    raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """When an operation is looked at or done, and for whom.

    Attributes:
        job: Told how far it is; it stops the work when somebody cancelled it.
        now: The time to go by: that of the preview, when what it showed is done.
        seen: What is agreed to; None where it is only looked at, and in a command.
        engine: Who is to do it; None where its size decides.
        is_job: Whether what is found is kept, for pages.
        is_shown: Whether somebody is told what would happen before it does.
        work: The id of the job that does it; "" for a command.
    """

    job: Reports
    now: datetime
    seen: Approval | None = None
    place: "Callable[[], TablePlace]" = no_place
    engine: Engine | None = None
    is_job: bool = True
    is_shown: bool = True
    work: str = ""

    @property
    def txn(self) -> SetTransaction | None:
        """By which the log of a table knows that it was made: one for a preview.

        What was asked for unseen has one for its own job.

        Source: delta_protocol.md, "Transaction Identifiers".
        """
        if self.seen is None:
            return None
        by = self.seen.job or self.work
        return SetTransaction(app_id=f"deltaweb:{by}", version=0)

    @property
    def user_name(self) -> str | None:
        """Who did it, for the log."""
        return self.seen.by if self.seen else None
