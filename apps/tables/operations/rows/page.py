"""The pages that delete and update rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat, zip_longest
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from apps.tables.head.newest import newest_definition, newest_schema
from apps.tables.head.table_head import TableHead
from apps.tables.models import Table
from apps.tables.operations.pages.page import OperationPage, by_values
from apps.tables.operations.rows.changed_rows import (
    DELETE_ROWS,
    UPDATE_ROWS,
    DeleteRows,
    UpdateRows,
)
from apps.tables.operations.rows.previews import RowsDetail
from apps.tables.operations.stored import StoredPreview, StoredResult
from deltaweb import expressions
from deltaweb.delta import writing
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.writer import rewrite

COLUMN, VALUE = "column", "value"
LINES: Final = 3
"""Lines that a page has at least."""
MAX_LINES: Final = 100
MAX_TEXT_LENGTH: Final = 10_000

Lines = Sequence[tuple[str, str]]


class AssignmentsWidget(forms.Widget):
    """Reads the lines: as many values of `column` as of `value`."""

    def value_from_datadict(
        self,
        data: Mapping[str, Any],
        files: object,  # noqa: ARG002 (Django's signature)
        name: str,  # noqa: ARG002 (as above)
    ) -> Lines:
        """Return the lines that hold something."""
        many = getattr(data, "getlist", lambda key: [data[key]] if key in data else [])
        columns, values = many(COLUMN), many(VALUE)
        length = max(len(columns), len(values))
        lines = zip(
            islice([*columns, *repeat("", length)], length),
            islice([*values, *repeat("", length)], length),
            strict=True,
        )
        stripped = [(column.strip(), value.strip()) for column, value in lines]
        return [line for line in stripped if any(line)]


class AssignmentsField(forms.Field):
    """Gives the SQL of the new values, by the name of the column."""

    widget = AssignmentsWidget
    default_error_messages = {
        "required": "Give a column, and its new value.",
    }

    def to_python(self, value: Lines | None) -> dict[str, str]:
        """Return what is assigned."""
        assignments: dict[str, str] = {}
        for column, sql in (value or ())[:MAX_LINES]:
            if not column:
                message = f"Say which column takes {sql[:80]}."
                raise ValidationError(message)
            if not sql:
                message = f"Give the new value of {column[:80]}; NULL for none."
                raise ValidationError(message)
            if any(column.lower() == known.lower() for known in assignments):
                message = f"The column {column[:80]} is there twice."
                raise ValidationError(message)
            if len(sql) > MAX_TEXT_LENGTH:
                message = f"The new value of {column[:80]} is too long."
                raise ValidationError(message)
            assignments[column] = sql
        if len(value or ()) > MAX_LINES:
            message = f"Change {MAX_LINES} columns at most at once."
            raise ValidationError(message)
        return assignments

    def prepare_value(self, value: Lines | Mapping[str, str] | None) -> Lines:
        """Return the lines that a page shows: those there, and some to be filled."""
        lines = [*value.items()] if isinstance(value, Mapping) else [*(value or ())]
        return [*lines, *repeat(("", ""), max(1, LINES - len(lines)))]


MAX_SQL_LENGTH: Final = 10_000
MAX_NAMES: Final = 500
"""Columns that a field proposes."""


class RowsForm(forms.Form):
    """Which rows: those of a condition, or, said so, every one."""

    where = forms.CharField(required=False, max_length=MAX_SQL_LENGTH)
    every = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Refuse neither, and both."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if "where" in values and bool(values["where"]) == bool(values.get("every")):
            self.add_error(
                "where",
                "Give a condition, or tick that every row is meant: not both."
                if values["where"]
                else "Give a condition, or tick that every row is meant.",
            )
        return values


class UpdateRowsForm(RowsForm):
    """Which rows, and their new values."""

    assignments = AssignmentsField()


def read_deletion(values: Mapping[str, Any]) -> DeleteRows:
    """Return what a form asks."""
    return DeleteRows(where=values["where"])


def read_update(values: Mapping[str, Any]) -> UpdateRows:
    """Return what a form asks."""
    return UpdateRows(assignments=values["assignments"], where=values["where"])


def shows_rows(asked: DeleteRows | UpdateRows) -> dict[str, Any]:
    """Return the values of a form that asks the same."""
    shown: dict[str, Any] = {"where": asked.where, "every": not asked.where}
    if isinstance(asked, UpdateRows):
        shown["assignments"] = asked.assignments
    return shown


def check_rows(table: Table, asked: DeleteRows | UpdateRows) -> None:
    """Refuse what the newest version that is known refuses."""
    definition, schema = newest_definition(table), newest_schema(table)
    if definition is None or schema is None:
        return
    is_update = isinstance(asked, UpdateRows)
    changes = rewrite.row_changes
    change = changes.RowUpdate if is_update else changes.RowDeletion
    writing.requirements.check_writable(
        definition,
        root=table.location,
        operation=change.operation,
        removes_rows=True,
    )
    if asked.where:
        expressions.condition.SQLCondition(asked.where, schema, asked.time_zone)
    if isinstance(asked, UpdateRows):
        zone = asked.time_zone
        changes.RowUpdate(asked.assignments, schema, definition.metadata, zone)


def rows_shown(
    head: TableHead,
    shown: StoredPreview[RowsDetail] | StoredResult[CommitResult] | None,
) -> dict[str, Any]:
    """Return what else the template gets: the columns, and the sample of a preview."""
    schema = newest_schema(head.table)
    sample = _sample(shown.detail) if isinstance(shown, StoredPreview) else ()
    return {
        "column_names": schema.names[:MAX_NAMES] if schema else [],
        "sample": [*sample],
    }


@dataclass(frozen=True, slots=True)
class SampleCell:
    """A value as text, now and then; None is null."""

    text: str | None
    new: str | None

    @property
    def is_changed(self) -> bool:
        """Whether it gets another value."""
        return self.text != self.new


def _sample(detail: RowsDetail) -> Iterator[list[SampleCell]]:
    """Yield rows of cells."""
    before = detail.before
    after = before if detail.after is None else detail.after
    for row, new in zip_longest(before, after):
        yield [SampleCell(*cell) for cell in zip(row, new, strict=True)]


DELETE_ROWS_PAGE: Final = OperationPage(
    operation=DELETE_ROWS,
    form=RowsForm,
    heading="Delete rows",
    about="Deletes the rows that meet the condition. Files that also contain other "
    "rows are rewritten. Earlier versions keep the deleted rows until a vacuum.",
    icon="trash",
    failed="No row was deleted",
    read=by_values(read_deletion),
    shows=shows_rows,
    check=check_rows,
    more_of_table=rows_shown,
)
UPDATE_ROWS_PAGE: Final = OperationPage(
    operation=UPDATE_ROWS,
    form=UpdateRowsForm,
    heading="Update rows",
    about="Gives columns new values in the rows that meet the condition. Their "
    "files are rewritten. Earlier versions keep the old values until a vacuum.",
    icon="pencil",
    failed="No row was updated",
    read=by_values(read_update),
    shows=shows_rows,
    check=check_rows,
    more_of_table=rows_shown,
)
