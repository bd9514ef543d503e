"""The schemas of files, one after the other, as one."""

from collections.abc import Iterable

from deltaweb.parquet.conversion.merging import MergedSchema, SchemaMerger
from deltaweb.parquet.loading import ParquetFooter


def merge_schemas(files: Iterable[tuple[str, ParquetFooter]]) -> MergedSchema:
    merger = SchemaMerger()
    for file, footer in files:
        merger.add(file, footer)
    return merger.merged()
