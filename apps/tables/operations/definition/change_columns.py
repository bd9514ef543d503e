"""A column is added, gets another name or a wider type, or is taken out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from apps.pages.changes.parameters import parameter, upgrade_parameter
from apps.tables.operations.definition.definition_change import register_change
from deltaweb.conditions.named import names_column
from deltaweb.delta.protocol.schema import StructField
from deltaweb.delta.protocol.schema.field_keys import COMMENT
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl, parse_type_ddl
from deltaweb.delta.writing.operations.definition import add_columns
from deltaweb.delta.writing.operations.renamed_columns import drop_column, rename_column
from deltaweb.delta.writing.operations.widened_columns import widen_column
from deltaweb.delta.writing.transaction import Transaction

if TYPE_CHECKING:
    from deltaweb.delta.snapshot.state import Definition

Way: TypeAlias = Literal["add", "rename", "widen", "drop"]
ADD: Final = "add"
RENAME: Final = "rename"
WIDEN: Final = "widen"
DROP: Final = "drop"
ACTIONS: Final[Mapping[Way, str]] = {
    ADD: "table.add_columns",
    RENAME: "table.rename_column",
    WIDEN: "table.widen_column",
    DROP: "table.drop_column",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeColumns:
    """What becomes of a column.

    Attributes:
        way: The change: add, drop, rename, widen or move columns.
        name: The name of the column; a dotted path for a nested column, except when it
            is added.
        type: The type of a new column, or the wider type, in SQL.
        comment: The comment of a new column; empty for no comment.
        new_name: The new name of the column.
        columns: Several new columns in SQL, instead of one.
        upgrade: Whether to upgrade the protocol in the same commit if needed.
    """

    way: Way
    name: str = parameter(
        "",
        metavar="column",
        help="the column; for a nested one its path: a.b, a.element, m.key, m.value",
    )
    type: str = parameter("", help="the wider type, such as BIGINT")
    comment: str = ""
    new_name: str = parameter("", metavar="new-name")
    columns: str = parameter("", metavar="'col TYPE [COMMENT ..]'")
    upgrade: bool = upgrade_parameter()


def change_columns(base: "Definition", asked: ChangeColumns, root: str) -> Transaction:
    """Return the transaction that adds, renames, widens or drops the column."""
    if asked.way == RENAME:
        return rename_column(
            base, asked.name, asked.new_name, root=root, names_column=names_column
        )
    if asked.way == DROP:
        return drop_column(base, asked.name, root=root, names_column=names_column)
    if asked.way == WIDEN:
        wide = parse_type_ddl(asked.type)
        return widen_column(
            base, asked.name, wide, root=root, names_column=names_column
        )
    if asked.columns:
        new = [*parse_columns_ddl(asked.columns)]
        return add_columns(base, new, root=root, upgrade=asked.upgrade)
    column = StructField(
        asked.name,
        parse_type_ddl(asked.type),
        nullable=True,
        metadata={COMMENT: asked.comment} if asked.comment else {},
    )
    return add_columns(base, [column], root=root, upgrade=asked.upgrade)


CHANGE_COLUMNS: Final = register_change(
    name="change_columns",
    words="Change the columns",
    title="Change the columns of {table}",
    doing="Committing the columns",
    action=lambda asked: ACTIONS[asked.way],
    parameters=ChangeColumns,
    change=change_columns,
    page="tables:table-columns",
    question=lambda asked, opened: (
        f"Drop the column {asked.name} of {opened.root}?" if asked.way == DROP else ""
    ),
)
