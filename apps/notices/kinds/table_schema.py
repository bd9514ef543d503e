"""A version of a table has changed its schema."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register

MAX_CHANGES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedColumn:
    """A change of one column, or of one field inside it.

    Attributes:
        column: Its name, with dots for the fields of a struct.
        change: `added`, `added again`, `renamed`, `type widened`, `type changed`,
            `null allowed`, `null forbidden`, `comment` or `dropped`.
        before: The former name, type or comment; "" if there was none.
        after: The new one.
        breaking: Whether readers of the column must follow.
    """

    column: str
    change: str
    before: str
    after: str
    breaking: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaChange:
    """A version that has changed the schema of its table.

    Attributes:
        table: The name of the table, with its namespace.
        breaking: Whether readers of the former schema may fail: a column was renamed
            or dropped, got another type or allows null. A schema that cannot be
            compared counts as breaking.
        num_changes: None if the schemas cannot be compared.
        changes: The first 100.
    """

    table: str
    version: int
    breaking: bool
    num_changes: int | None
    changes: tuple[ChangedColumn, ...]

    def sentence(self, subject: str) -> str:
        """Name the version and the first changes."""
        first = [f"{one.column} {one.change}" for one in self.changes[:3]]
        more = (self.num_changes or 0) - len(first)
        if more:
            first.append(f"{more} more")
        said = "Breaking change" if self.breaking else "Change"
        facts = f": {', '.join(first)}" if first else ""
        return f"{said} of the schema of {subject} in version {self.version}{facts}."


SCHEMA_CHANGED: Final = register(
    EventKind(
        name="table.schema",
        words="Schema changed",
        help="Sent after `table.version` if the version has changed the schema.",
        about="table",
        data=SchemaChange,
    )
)
