"""What a job of an operation keeps: the preview that it showed, or what it did."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from apps.pages.page_json import OnPage, from_json, json_with
from deltaweb.delta.writing.transaction import CommitResult

D = TypeVar("D")
R = TypeVar("R")


class Outcome:
    """What a job of an operation keeps: a preview, or a result."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPreview(Outcome, Generic[D]):
    """A preview, as its job keeps it.

    Attributes:
        at: When the table was looked at.
        version: As in `OperationPreview`, like the others.
    """

    at: datetime
    version: int | None
    counts: Mapping[str, int]
    detail: D
    is_empty: bool

    def describe(self) -> dict[str, Any]:
        """Return it as JSON: the fields of the detail, and its own."""
        return json_with(
            self.detail,
            at=self.at.isoformat(),
            version=self.version,
            counts=dict(self.counts),
            is_empty=self.is_empty,
        )

    @classmethod
    def read(cls, detail: type[D], values: Mapping[str, Any]) -> "StoredPreview[D]":
        """Read what `describe` returned.

        Args:
            detail: The type of the detail.
        """
        return cls(
            at=datetime.fromisoformat(values["at"]),
            version=values["version"],
            counts=values["counts"],
            detail=from_json(detail, values),
            is_empty=values["is_empty"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeTable:
    """A table that an operation made and registered.

    Attributes:
        table: Its full name.
        version: The version that was committed.
        location: Where it is stored; "" of one that was read from a job.
    """

    table: str
    namespace: str
    name: str
    version: int | None = None
    location: OnPage[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult(Outcome, Generic[R]):
    """What an operation did, as its job keeps it.

    Attributes:
        result: What it says of it; None where a worker did it that was killed before
            it could say so.
        version: The version that was found then.
    """

    result: R | None
    version: int | None = None

    @property
    def done_before(self) -> bool:
        """Whether a worker did it that was killed before it could say so."""
        return self.result is None

    @property
    def commit(self) -> CommitResult | None:
        """The commit: the result itself, or its attribute `committed`."""
        found = getattr(self.result, "committed", self.result)
        return found if isinstance(found, CommitResult) else None

    @property
    def made(self) -> MadeTable | None:
        """The table that was made: the result itself, or its attribute `made`."""
        found = getattr(self.result, "made", self.result)
        return found if isinstance(found, MadeTable) else None

    def describe(self) -> dict[str, Any]:
        """Return it as JSON: the fields of the result, and that it is done."""
        if self.result is None:
            return {"is_done": True, "version": self.version, "done_before": True}
        return {"is_done": True, **json_with(self.result)}

    @classmethod
    def read(cls, result: type[R], values: Mapping[str, Any]) -> "StoredResult[R]":
        """Read what `describe` returned.

        Args:
            result: The type of what an operation says.
        """
        is_told = not values.get("done_before")
        return cls(
            result=from_json(result, values) if is_told else None,
            version=values.get("version"),
        )
