"""Rows of a table that become others: `delete`, `update`."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from apps.pages.changes.parameters import given
from apps.tables.management.operation_verb import OperationVerb
from apps.tables.operations.rows.changed_rows import (
    DELETE_ROWS,
    UPDATE_ROWS,
    DeleteRows,
    UpdateRows,
)


class DeleteVerb(OperationVerb[DeleteRows]):
    """Delete the rows that meet a condition, or all rows."""

    operation = DELETE_ROWS


class UpdateVerb(OperationVerb[UpdateRows]):
    """Update columns in the rows that meet a condition, or in all rows."""

    operation = UPDATE_ROWS

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the new values, and which rows take them."""
        parser.add_argument(
            "--set",
            action="append",
            required=True,
            dest="sets",
            metavar="col=expr",
            help="a column and an SQL expression for its value; repeatable",
        )
        super().add_parameters(parser)

    def read(self, options: Mapping[str, Any]) -> UpdateRows:
        """Return which rows take which values."""
        sets = dict(map(_assignment, options["sets"]))
        return UpdateRows(assignments=sets, **given(options))


def _assignment(text: str) -> tuple[str, str]:
    column, separator, sql = text.partition("=")
    if not separator or not column.strip() or not sql.strip():
        message = f"{text!r} is not of the form column=expression."
        raise CommandError(message)
    return column.strip(), sql.strip()
