"""A table has a new version."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register
from deltaweb.words import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A new version of a table.

    Attributes:
        table: The name of the table, with its namespace.
        version: Its number.
        operation: The operation of the commit, as its writer named it.
        committed_at: The time of the commit, in ISO 8601.
        rows_added: None if the commit does not say.
        rows_removed: None if the commit does not say.
        schema_changed: Whether it changed the schema.
        breaking: Whether readers of the former schema may fail; see `table.schema`.
        log_replaced: Whether the log is another one than before, such as of a table
            that was deleted and created again. Only its newest version is reported.
    """

    table: str
    version: int
    operation: str
    committed_at: str
    rows_added: int | None
    rows_removed: int | None
    files_added: int
    files_removed: int
    schema_changed: bool
    breaking: bool
    log_replaced: bool = False

    def sentence(self, subject: str) -> str:
        """Name the version, its rows and what became of the schema."""
        rows = [
            f"{counted(number, 'row')} {verb}"
            for number, verb in (
                (self.rows_added, "added"),
                (self.rows_removed, "removed"),
            )
            if number
        ]
        schema = "breaking change of the schema" if self.breaking else "schema changed"
        facts = [self.operation, *rows, *([schema] if self.schema_changed else [])]
        return (
            f"{subject} has version {self.version}: {', '.join(filter(None, facts))}."
        )


NEW_VERSION: Final = register(
    EventKind(
        name="table.version",
        words="New version",
        help="Sent for each commit of a table, in the order of the versions.",
        about="table",
        data=NewVersion,
    )
)
