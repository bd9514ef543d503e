"""The pages that change columns, and the words about a table and its columns."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from django import forms

from apps.tables.head.newest import newest_definition, newest_schema
from apps.tables.head.table_head import TableHead
from apps.tables.operations.definition.change_columns import (
    ADD,
    CHANGE_COLUMNS,
    DROP,
    RENAME,
    WIDEN,
    ChangeColumns,
    change_columns,
)
from apps.tables.operations.definition.checks import check_by
from apps.tables.operations.definition.describe import DESCRIBE, describe
from apps.tables.operations.pages.page import OperationPage, by_values
from deltaweb.delta.protocol.column_path import path_text
from deltaweb.delta.protocol.schema import StructType, fields_in
from deltaweb.delta.writing.operations.widened_columns import (
    types_change,
    widened_parts,
)

MAX_NAME_LENGTH: Final = 1_000
MAX_TEXT_LENGTH: Final = 4_000
MAX_NAMES: Final = 500
"""Columns that a field proposes."""
TYPES: Final = (
    "STRING",
    "BIGINT",
    "INT",
    "SMALLINT",
    "TINYINT",
    "DOUBLE",
    "FLOAT",
    "DECIMAL(18, 2)",
    "BOOLEAN",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "BINARY",
    "ARRAY<STRING>",
    "MAP<STRING, STRING>",
    "STRUCT<name: STRING, value: DOUBLE>",
)
"""Types that a field proposes; any other can be written."""
NEEDED: Final = {
    ADD: ("type", "Give a type, such as STRING."),
    RENAME: ("new_name", "Give the new name."),
    WIDEN: ("type", "Give the wider type, such as BIGINT."),
}


class ColumnForm(forms.Form):
    """A column, and what becomes of it."""

    way = forms.ChoiceField(
        choices=[
            (ADD, "Add"),
            (RENAME, "Rename"),
            (WIDEN, "Widen"),
            (DROP, "Drop"),
        ],
        initial=ADD,
    )
    name = forms.CharField(
        max_length=MAX_NAME_LENGTH, error_messages={"required": "Name a column."}
    )
    type = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)
    comment = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)
    new_name = forms.CharField(required=False, max_length=MAX_NAME_LENGTH)

    def clean(self) -> dict[str, Any]:
        """Ask for what a change of this kind needs."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        field, message = NEEDED.get(values.get("way", ""), ("", ""))
        if field in values and not values[field]:
            self.add_error(field, message)
        return values


class DescribeForm(forms.Form):
    """Words about a table, or a column."""

    column = forms.CharField(required=False, max_length=MAX_NAME_LENGTH)
    text = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)


def read_columns(values: Mapping[str, Any]) -> ChangeColumns:
    """Return what a form asks.

    The look says what it takes of the protocol, and who agrees to it agrees to that.
    """
    return ChangeColumns(**values, upgrade=values["way"] == ADD)


def columns_shown(head: TableHead, _shown: object) -> dict[str, Any]:
    """Return the columns and types that the fields propose."""
    schema = newest_schema(head.table)
    definition = newest_definition(head.table)
    return {
        "column_names": _names(schema),
        "parts": [*widened_parts(schema)][:MAX_NAMES] if schema else [],
        "is_widened": definition is not None and types_change(definition),
        "is_mapped": bool(schema and any(c.physical_name for c in schema.fields)),
        "types": TYPES,
    }


def _names(schema: StructType | None) -> list[str]:
    columns = islice(fields_in(schema), MAX_NAMES) if schema else ()
    return [path_text(path) for path, _ in columns]


def comments_shown(head: TableHead, _shown: object) -> dict[str, Any]:
    """Return what is said of the table and its columns now."""
    metadata = head.table.metadata_versions.first()
    schema = newest_schema(head.table)
    return {
        "about_table": metadata.description if metadata else "",
        "column_names": _names(schema),
        "comments": [*_comments(schema)][:MAX_NAMES] if schema else [],
    }


def _comments(schema: StructType) -> Sequence[tuple[str, str]]:
    return [
        (column.name, str(column.metadata.get("comment") or ""))
        for column in schema.fields
    ]


COLUMN_PAGE: Final = OperationPage(
    shown_as="definition",
    operation=CHANGE_COLUMNS,
    form=ColumnForm,
    heading="Columns",
    about="Changes the columns in the table's schema, without rewriting files. A "
    "new column is the last one, and NULL in existing rows.",
    icon="columns-3",
    says="No file is rewritten; earlier versions do not change.",
    does="Commit the columns",
    failed="The columns were not changed",
    read=by_values(read_columns),
    check=check_by(change_columns),
    more_of_table=columns_shown,
)
COMMENT_PAGE: Final = OperationPage(
    shown_as="definition",
    operation=DESCRIBE,
    form=DescribeForm,
    heading="Comments",
    about="Comments of the table and its columns are in the log, so every engine and "
    "every recipient sees them.",
    icon="file-text",
    says="No rows or files change.",
    does="Commit the comment",
    failed="The comment was not committed",
    check=check_by(describe),
    more_of_table=comments_shown,
    below="tables/operations/_comments_below.html",
)
