"""The options of commands that read files: how they are written, and their types."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.web.tables.catalogue.adding.source import place_of_file
from deltaweb.web.tables.management.arguments import add_time_zone
from deltaweb.web.tables.storage.opening import open_file
from deltaweb.writer.importing.options import (
    DAY_ORDERS,
    DELIMITERS,
    FORMATS,
    TextForm,
)
from deltaweb.writer.importing.source_file import SourceFiles


def add_file_options(parser: ArgumentParser) -> None:
    """Take how files are written, and the types of their columns."""
    parser.add_argument("--format", choices=FORMATS, default="", dest="file_format")
    parser.add_argument(
        "--types",
        default="",
        metavar="DDL",
        help="types of columns, else those of the table, or inferred: 'id BIGINT'",
    )
    parser.add_argument("--delimiter", choices=DELIMITERS, default="")
    parser.add_argument(
        "--no-header", action="store_true", help="the first row is data, not a header"
    )
    parser.add_argument("--null", default="", help="the text of null")
    parser.add_argument("--decimal", choices=(".", ","), default=".")
    parser.add_argument("--dates", choices=DAY_ORDERS, default="ymd")
    add_time_zone(parser, of="the file (UTC without)")


def asked_files(files: Sequence[str], options: Mapping[str, Any]) -> SourceFiles:
    """Return files as they are read by the options of a command."""
    return SourceFiles(
        paths=[*map(place_of_file, files)],
        names=files,
        file_format=options["file_format"],
        form=text_form(options),
        open_file=open_file,
    )


def text_form(options: Mapping[str, Any]) -> TextForm:
    """Return how the values of files are written."""
    return TextForm(
        delimiter=options["delimiter"],
        has_header=not options["no_header"],
        null_text=options["null"],
        decimal_sign=options["decimal"],
        day_order=options["dates"],
        time_zone=options["time_zone"] or UTC_ZONE,
    )
