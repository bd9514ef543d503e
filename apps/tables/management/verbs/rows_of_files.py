"""Rows of files for a table: `import` adds them, `merge` changes it by them."""

from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Final

from django.core.management.base import CommandError

from apps.pages.changes.parameters import given
from apps.tables.catalogue.adding.work.import_rows import IMPORT, ImportRows
from apps.tables.catalogue.adding.work.merge import MERGE, MergeRows
from apps.tables.management.arguments import is_file_here, locate
from apps.tables.management.operation_verb import OperationVerb
from apps.tables.management.options import (
    add_file_options,
    add_zone_of_files,
    text_form,
)
from apps.tables.models import Table
from apps.tables.storage.locations import is_remote
from deltaweb.writer.importing.options import (
    BadRows,
    ImportFileError,
    TextForm,
    format_of,
)


class ImportVerb(OperationVerb[ImportRows]):
    """Add the rows of CSV, JSON or Parquet files to a table."""

    operation = IMPORT

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the files, how they are written, and what becomes of their rows."""
        parser.add_argument(
            "files", nargs="+", metavar="FILE", help="a path, or a URL such as s3://..."
        )
        add_file_options(parser)
        add_zone_of_files(parser)
        super().add_parameters(parser)

    def locate(self, text: str) -> tuple[Table | None, str]:
        """Return the table, or the place of one that is to be made."""
        return locate(text, may_be_made=True)

    def read(self, options: Mapping[str, Any]) -> ImportRows:
        """Return what is imported; rows that do not fit are refused."""
        said = {"bad_rows": BadRows.REFUSE.value, **given(options)}
        return ImportRows(
            user_id=None,
            files=tuple(options["files"]),
            file_format=options["file_format"],
            form=asdict(text_form(options)),
            types=options["types"],
            **said,
        )


_OF_FILES: Final = (
    "--types, --delimiter, --no-header, --null, --decimal and --dates say how a file "
    "is written, and {source} is taken for a table. If it is a file, give its --format."
)


class MergeVerb(OperationVerb[MergeRows]):
    """Merge the rows of a file or of another table into a table."""

    operation = MERGE

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare how a file is written that is the source, and what is merged."""
        add_file_options(parser, types="inferred")
        super().add_parameters(parser)

    def read(self, options: Mapping[str, Any]) -> MergeRows:
        """Return what is merged; a table is found by its name."""
        asked = MergeRows(user_id=None, **given(options))
        if not asked.clauses:
            message = "Give --update-all, --insert-all or --delete-where."
            raise CommandError(message)
        form = text_form({**options, "time_zone": asked.time_zone})
        if not _is_file(asked.source, options["file_format"]):
            if options["types"] or form != TextForm(time_zone=asked.time_zone):
                raise CommandError(_OF_FILES.format(source=asked.source))
            return replace(asked, source=locate(asked.source)[1])
        return replace(
            asked,
            source="",
            files=(asked.source,),
            file_format=options["file_format"],
            form=asdict(form),
            types=options["types"],
        )


def _is_file(source: str, file_format: str) -> bool:
    """Whether a source is a file: one that is here, or whose name shows its format."""
    if file_format or is_file_here(source):
        return True
    with suppress(ImportFileError):
        return is_remote(source) and bool(format_of(source))
    return False
