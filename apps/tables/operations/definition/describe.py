"""A table, or a column of it, is described in its log."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.pages.changes.parameters import parameter
from apps.tables.operations.definition.definition_change import register_change
from deltaweb.delta.writing.operations.definition import set_comment
from deltaweb.delta.writing.transaction import Transaction

if TYPE_CHECKING:
    from deltaweb.delta.snapshot.state import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe:
    """What is said, and of what.

    Attributes:
        text: The comment; empty removes it.
        column: The dotted path of a column; empty for the table.
    """

    text: str = parameter(
        "", is_stated=True, metavar="text", help="empty to remove the comment"
    )
    column: str = parameter(
        "",
        "--column",
        metavar="PATH",
        help="comment on this column instead of the table",
    )


def describe(base: "Definition", asked: Describe, _root: str) -> Transaction:
    """Return the transaction that says it."""
    return set_comment(base, asked.text or None, column=asked.column or None)


DESCRIBE: Final = register_change(
    name="describe",
    words="Describe a table in its log",
    title="Describe {table} in its log",
    doing="Committing the comment",
    action="table.set_comment",
    parameters=Describe,
    change=describe,
    page="tables:table-comments",
)
