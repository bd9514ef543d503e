"""A field of a table through its versions, and what became of it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    short_type_text,
)
from deltaweb.delta.protocol.schema.field_keys import FIELD_ID

MAX_TEXT_LENGTH: Final = 200  # of a type or a comment

Key = tuple[str, ...]
"""What a field is known by: the stored names, or the names, that lead to it."""


class ColumnChangeKind(StrEnum):
    """What a version did to a field."""

    ADDED = "added"
    ADDED_AGAIN = "added again"
    RENAMED = "renamed"
    WIDENED = "type widened"
    RETYPED = "type changed"
    NULLABLE = "null allowed"
    REQUIRED = "null forbidden"
    COMMENT = "comment"
    DROPPED = "dropped"


BREAKING: Final = frozenset(
    {
        ColumnChangeKind.RENAMED,
        ColumnChangeKind.RETYPED,
        ColumnChangeKind.NULLABLE,
        ColumnChangeKind.DROPPED,
    }
)
"""What a reader that knew the field as it was must follow."""


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """What a version did to a field.

    Attributes:
        before: The name, type or comment before; "" where there was none.
        is_own: Whether it was done to the field, not to a struct around it.
    """

    version: int
    kind: ColumnChangeKind
    before: str
    after: str
    is_own: bool
    path: Key

    @property
    def is_breaking(self) -> bool:
        """Whether readers of the field must follow."""
        return self.kind in BREAKING

    @property
    def needs_widening(self) -> bool:
        """Whether only readers that know of type widening can follow."""
        return self.kind == ColumnChangeKind.WIDENED


@dataclass(slots=True)
class ColumnHistory:
    """A field through the versions; it grows while definitions are read.

    Attributes:
        path: Its newest names.
        until: The version that dropped it; None while it is there.
    """

    path: Key
    column: StructField
    since: int
    until: int | None = None
    events: list[ColumnChange] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """0 for a column of the table."""
        return len(self.path) - 1

    @property
    def type_text(self) -> str:
        """Its type as SQL spells it, the fields of structs left out."""
        return outline(self.column.data_type)

    @property
    def field_id(self) -> int | None:
        found = self.column.metadata.get(FIELD_ID)
        return found if type(found) is int else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnHistories:
    """The fields of a table through its versions.

    Attributes:
        fields: In the order of the newest schema; one that is gone follows the one
            that stood before it.
        first: The version of the oldest schema that they tell of; None without any.
        mapped_since: The version from which fields are known by what they are stored
            as, when that came after `first`.
        num_unknown: Definitions whose columns are not known.
        is_cut: Whether older changes were too many to be kept.
    """

    fields: tuple[ColumnHistory, ...] = ()
    first: int | None = None
    mapped_since: int | None = None
    num_unknown: int = 0
    is_cut: bool = False

    @property
    def changed_versions(self) -> tuple[int, ...]:
        """The versions that did something to a field, ascending."""
        versions = {event.version for one in self.fields for event in one.events}
        return tuple(sorted(versions))


def outline(data_type: DataType) -> str:
    """Return a type as SQL spells it, the fields of structs left out."""
    match data_type:
        case StructType():
            return "struct"
        case ArrayType(element_type):
            return f"array<{outline(element_type)}>"
        case MapType(key_type, value_type):
            return f"map<{outline(key_type)},{outline(value_type)}>"
    return short_type_text(data_type, MAX_TEXT_LENGTH)
