"""A field of several lines: a column, and the SQL of its new value."""

from collections.abc import Mapping, Sequence
from itertools import islice, repeat
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

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
