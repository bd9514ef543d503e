"""`deltaweb table rows`: rows of one version."""

from typing import Any

from django.core.management.base import CommandParser

from apps.pages.changes.parameters import SQL_OF_UTC
from apps.pages.command import Output, Subcommand
from apps.tables.management.arguments import add_version, locate
from apps.tables.management.options import (
    RowOptions,
    add_row_options,
)
from apps.tables.storage.opening import open_location
from deltaweb.delta.protocol.schema import read_columns, unread_type
from deltaweb.delta.snapshot import Snapshot


class RowsVerb(Subcommand):
    """Print rows."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        add_version(parser, of=f"--timestamp and {SQL_OF_UTC}")
        add_row_options(parser, example="amount > 10")

    def run(
        self,
        *,
        table: str,
        at_version: int | None,
        timestamp: str | None,
        time_zone: str | None,
        **of_rows: Any,  # noqa: ANN401  # as argparse read them
    ) -> Output:
        """Print rows of one version."""
        asked = RowOptions.of(self, **of_rows)
        opened = open_location(locate(table)[1], time_zone=time_zone)
        snapshot = opened.snapshot(at_version, timestamp)
        names = asked.columns or self._columns_read(snapshot)
        rows = snapshot.scan(names, asked.where, asked.limit)
        return asked.answer(self, rows.schema, iter(rows))

    def _columns_read(self, snapshot: Snapshot) -> list[str] | None:
        """Return the columns that are read, None for all; the others are named."""
        read = read_columns(snapshot.schema).names
        if not read or read == snapshot.schema.names:
            return None
        for column in snapshot.schema.fields:
            if column.name not in read:
                kind = unread_type(column.data_type)
                self.warn(f"{column.name} is left out: its type {kind} is not read.")
        return list(read)
