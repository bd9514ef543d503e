"""What an operation would do, and what of it somebody has agreed to."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from deltaweb.delta.protocol.actions import SetTransaction
from deltaweb.web.jobs.running.tracking import TrackedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What an operation would do.

    Attributes:
        version: The version of the table that was looked at; None where there is no
            table yet.
        counts: What somebody agrees to: where these are others when it is done, it is
            not done, and shown again.
        detail: What else the page shows; JSON.
        is_empty: Whether there is nothing to do.
    """

    version: int | None
    counts: Mapping[str, int]
    detail: Mapping[str, Any] = field(default_factory=dict)
    is_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What somebody has looked at and agreed to.

    Attributes:
        job: The id of the job that found it out.
        at: The time by which it was found out.
        version: As in `Foreseen`.
        counts: As in `Foreseen`.
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
    def from_json(cls, values: Mapping[str, Any]) -> "Seen":
        """Read what `to_json` wrote."""
        return cls(**{**values, "at": datetime.fromisoformat(values["at"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """When an operation is looked at or done, and by which job.

    Attributes:
        job: Told how far it is; it stops the work when it was cancelled.
        now: The time to go by: that of the look, when what it showed is done.
        seen: What is agreed to; None where it is only looked at.
    """

    job: TrackedJob
    now: datetime
    seen: Seen | None = None

    @property
    def txn(self) -> SetTransaction | None:
        """By which the log of a table that is made knows it was made: one for a look.

        Source: delta_protocol.md, "Transaction Identifiers".
        """
        if self.seen is None:
            return None
        return SetTransaction(app_id=f"deltaweb:{self.seen.job}", version=0)

    @property
    def user_name(self) -> str | None:
        """Who did it, for the log."""
        return self.seen.by if self.seen else None
