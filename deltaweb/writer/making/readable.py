"""Whether the rows of files can be read, before a table is made of them.

What a footer says is checked of every file. A schema that no file before it had is
opened as rows are. Columns are decoded where only that shows whether they can be read:
in encodings and types that some programs write in a way that is not read here.
"""

import json
from dataclasses import dataclass, field
from typing import Final

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructType, parse_schema
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.parquet.conversion.merging import FileProblem
from deltaweb.parquet.conversion.stored import convert_file
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import SchemaElement
from deltaweb.writer.making.folder import ReadFile, path_of

MAX_KNOWN: Final = 32
"""Different schemas of which a file may have one that was opened already."""


@dataclass(eq=False)
class ReadableFiles:
    """Looks at files of a folder, one after the other."""

    store: TableStore
    _known: list[tuple[SchemaElement, ...]] = field(default_factory=list)

    def problem(self, file: ReadFile, footer: ParquetFooter) -> FileProblem | None:
        """Return why the rows of a file cannot be read; None if nothing is known."""
        elements = footer.metadata.elements
        is_new = elements not in self._known
        if not is_new and not file.doubtful:
            return None
        conversion = convert_file(footer)
        if conversion.nullable is None:  # its problems are known
            return None
        schema = parse_schema(json.dumps(conversion.nullable))
        try:
            path = path_of(file.place)
            with DataFile(path, self.store.open_data_file) as opened:
                opened.check_types(schema)
                _decode(opened, schema.select(file.doubtful))
        except DataFileError as error:
            return FileProblem(file.place, (), error.reason)
        if is_new:
            self._known = [elements, *self._known][:MAX_KNOWN]
        return None


def _decode(file: DataFile, schema: StructType) -> None:
    if schema.fields:
        for row_group in range(file.metadata.num_row_groups):
            for _ in file.batches(schema, row_group):
                pass
