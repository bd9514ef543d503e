"""What is asked for new tables and rows, refused before a job is made of it."""

from apps.tables.catalogue.adding.source import FileAsked, check_file
from apps.tables.catalogue.adding.table_request import check_table_request
from apps.tables.catalogue.adding.work.convert import ConvertFolder
from apps.tables.catalogue.adding.work.create import CreateTable
from apps.tables.catalogue.adding.work.import_rows import ImportRows
from apps.tables.catalogue.adding.work.merge import MergeRows
from apps.tables.models import Table
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.time_zones.known import check_zone
from deltaweb.writer.importing.checked_rows import schema_of
from deltaweb.writer.importing.options import ImportColumn, ImportFileError, format_of


def checked_creation(asked: CreateTable) -> CreateTable:
    """Return a table that may be made of columns, or of those of a file."""
    if not (asked.columns or asked.has_file):
        raise SchemaError(column="", reason="a table needs a column, or a file of some")
    check_table_request(asked)
    if asked.has_file:
        format_of(asked.file_name, asked.file_format)
        check_file(asked)
    schema_of(
        [
            ImportColumn(source=c["name"], name=c["name"], type_name=c["type"] or "?")
            for c in asked.columns
        ]
    )
    return asked


def checked_conversion(asked: ConvertFolder) -> ConvertFolder:
    """Return a folder that may become a table."""
    if asked.partition_schema.strip():
        parse_columns_ddl(asked.partition_schema)
    if asked.time_zone:
        check_zone(asked.time_zone)
    check_table_request(asked)
    return asked


def checked_import(asked: ImportRows, table: Table | None) -> ImportRows:
    """Return rows that may be imported into a table; None makes one."""
    if table is None:
        check_table_request(asked)
    _check_rows(asked)
    if asked.columns:
        schema_of(
            [
                ImportColumn(**{k: v for k, v in c.items() if k != "is_partition"})
                for c in asked.columns
            ]
        )
    return asked


def checked_merge(asked: MergeRows) -> MergeRows:
    """Return rows that may be merged; whoever asks may see the table that has them."""
    check_zone(asked.time_zone)
    if not asked.source_id:
        _check_rows(asked)
    return asked


def _check_rows(asked: FileAsked) -> None:
    if not (asked.upload or asked.path):
        raise ImportFileError(path="Nothing", reason="no file is given")
    format_of(asked.file_name, asked.file_format)
    check_file(asked)
