"""`deltaweb parquet schema`: the one schema of files, as another system has it."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandParser

from apps.pages.command import Output, Subcommand
from apps.pages.responses import to_json
from apps.tables.management.parquet_files import (
    SUFFIXES,
    open_file,
    open_folder,
    open_listed,
    parquet_files,
)
from apps.tables.storage.locations import is_remote, parse_location
from deltaweb.parquet.conversion.arrow import convert_file_for_arrow
from deltaweb.parquet.conversion.merging import FileProblem, SchemaMerger
from deltaweb.parquet.conversion.stored import convert_file, convert_file_for_spark
from deltaweb.parquet.errors import (
    NoParquetFilesError,
    ParquetError,
    SchemaNotHeldError,
)
from deltaweb.parquet.loading import ParquetFooter, load_footer
from deltaweb.parquet.tail import open_source

MAX_SHOWN = 10
CONVERTERS = {
    "delta": convert_file,
    "spark": convert_file_for_spark,
    "arrow": convert_file_for_arrow,
}


class SchemaVerb(Subcommand):
    """Print the schema of files for Delta, Spark or Arrow."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "places",
            nargs="+",
            metavar="file|folder",
            help="paths or URLs; a folder means all Parquet files below it",
        )
        parser.add_argument(
            *("--as",), dest="system", choices=list(CONVERTERS), default="delta"
        )
        parser.add_argument(
            "--strict",
            action="store_true",
            help="required columns become NOT NULL",
        )

    def run(self, *, places: list[str], system: str, strict: bool) -> Output:
        """Merge the schemas of all files, or name every conflict among them."""
        merger = SchemaMerger(CONVERTERS[system], ignores_case=system == "delta")
        broken: list[FileProblem] = []
        for place in places:
            for file, footer in _footers(place):
                if isinstance(footer, ParquetError):
                    message = footer.message.removeprefix(f"{file}: ").rstrip(".")
                    broken.append(FileProblem(file, (), message))
                else:
                    merger.add(file, footer)
        merged = merger.merged()
        problems = [*broken, *(p for p in merged.problems if p.file)]
        if problems:
            raise SchemaNotHeldError(system=system.title(), problems=problems)
        schema = merged.strict if strict else merged.nullable
        if merged.features:
            self.warn(f"It needs the table features {', '.join(merged.features)}.")
        if merged.mapped_columns:
            columns = merged.mapped_columns[:MAX_SHOWN]
            names = ", ".join(".".join(path) for path in columns)
            self.warn(f"Column mapping is needed for the names of: {names}.")
        return Output(schema, to_json(schema, indent=2))


def _footers(place: str) -> Iterator[tuple[str, ParquetFooter | ParquetError]]:
    """Yield every file of a place with its footer, or with what is wrong with it."""
    location = parse_location(place, base=Path.cwd())
    if is_remote(location):
        is_folder = not location.lower().endswith(SUFFIXES)
    else:
        is_folder = Path(location).is_dir()
    if not is_folder:
        try:
            with open_file(location) as source, open_source(source) as opened:
                yield location, load_footer(opened, settings.PARQUET_FOOTER_BYTES)
        except ParquetError as error:
            yield location, error
        return
    store = open_folder(location)
    names = parquet_files(store)
    if not names:
        raise NoParquetFilesError(location=location)
    for name in names:
        file = f"{location}/{name}"
        try:
            with open_listed(store, name) as opened:
                yield file, load_footer(opened, settings.PARQUET_FOOTER_BYTES)
        except ParquetError as error:
            yield file, error
