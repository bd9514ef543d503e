"""`deltaweb parquet show`: what the footer of a file says."""

import tempfile
from collections.abc import Iterable, Iterator

from django.conf import settings
from django.core.management.base import CommandParser

from deltaweb.parquet.inspection.description import (
    ROW_GROUPS,
    described_fields,
    described_groups,
    footer_warnings,
)
from deltaweb.parquet.loading import ParquetFooter, load_footer
from deltaweb.parquet.tail import open_source
from deltaweb.web.pages.command import Output, Subcommand
from deltaweb.web.pages.responses import to_json
from deltaweb.web.tables.management import parquet_output
from deltaweb.web.tables.management.parquet_files import open_file

MAX_WARNINGS = 20
SPOOLED_BYTES = 16 << 20
PIECE_LENGTH = 1 << 20


class ShowVerb(Subcommand):
    """Show what the footer of a file says."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", help="a path or a URL")

    def run(self, *, file: str) -> Output:
        """Show a footer: its schema, its row groups, its columns and statistics."""
        with open_file(file) as source, open_source(source) as opened:
            size_bytes = opened.size()
            footer = load_footer(opened, settings.PARQUET_FOOTER_BYTES)
            if self.command.answers_json:
                return Output(None, parts=_whole(_json_parts(footer)))
            # Column chunks are read as they are shown, and may be corrupt.
            lines = list(parquet_output.footer_lines(footer))
        for count, warning in enumerate(footer_warnings(footer)):
            if count == MAX_WARNINGS:
                self.warn("There are more; --json has them all.")
                break
            self.warn(warning)
        text = parquet_output.header_text(footer, file, size_bytes)
        return Output(None, text, lines)


def _json_parts(footer: ParquetFooter) -> Iterator[str]:
    """Yield the document of a footer in pieces, a row group a piece."""
    before = "{"
    for name, value in described_fields(footer):
        yield f'{before}\n"{name}": '
        before = ","
        if name != ROW_GROUPS:
            yield to_json(value, indent=2)
            continue
        between = "["
        for group in described_groups(footer):
            yield f"{between}\n{to_json(group, indent=2)}"
            between = ","
        yield "[]" if between == "[" else "\n]"
    yield "\n}\n"


def _whole(parts: Iterable[str]) -> Iterator[str]:
    """Give pieces on when all are made: a late error leaves no half of a document."""
    with tempfile.SpooledTemporaryFile(SPOOLED_BYTES, "w+", encoding="utf-8") as file:
        file.writelines(parts)
        file.seek(0)
        yield from iter(lambda: file.read(PIECE_LENGTH), "")
