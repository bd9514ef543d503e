"""New tables: `create` an empty one, `convert` Parquet files into one."""

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from apps.tables.catalogue.adding.work.convert import CONVERT, ConvertFolder
from apps.tables.catalogue.adding.work.create import CREATE, CreateTable
from apps.tables.management.arguments import is_file_here
from apps.tables.management.operation_verb import MakingVerb
from apps.tables.management.options import (
    add_file_options,
    add_zone_of_files,
    text_form,
)


class CreateVerb(MakingVerb[CreateTable]):
    """Create an empty table and register it."""

    operation = CREATE

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the columns, or the file that has them."""
        columns = parser.add_mutually_exclusive_group(required=True)
        columns.add_argument(
            "--schema",
            metavar="FILE|DDL",
            help="a file of the schema's JSON or DDL, or DDL: 'id BIGINT, at DATE'",
        )
        columns.add_argument(
            "--schema-of",
            default="",
            metavar="FILE",
            help="a CSV, JSON or Parquet file that defines the columns",
        )
        add_file_options(parser)
        add_zone_of_files(parser)
        super().add_parameters(parser)

    def read(self, options: Mapping[str, Any]) -> CreateTable:
        """Return the table that is made."""
        file, types = options["schema_of"], options["types"]
        if types and not file:
            message = "--types changes those of a file: it goes with --schema-of."
            raise CommandError(message)
        return CreateTable(
            **self.placed(options),
            schema=None if file else _schema(options["schema"]),
            files=(file,) if file else (),
            file_format=options["file_format"],
            form=asdict(text_form(options)),
            types=types,
        )


def _schema(text: str) -> str:
    return Path(text).read_text() if is_file_here(text) else text


class ConvertVerb(MakingVerb[ConvertFolder]):
    """Turn a folder of Parquet files into a table in place, and register it."""

    operation = CONVERT
