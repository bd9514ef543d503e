"""A version as a dataset of pyarrow, for tables whose files are their rows.

A dataset knows the files, their partition values and the columns, and nothing else of
Delta. Where rows are more than that it would answer wrongly, and is refused by the
name of what stands in its way.
"""

from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Final, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import has_mapped_columns
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    StructType,
    arrow_schema,
    nullable_schema,
    unread_type,
)
from deltaweb.delta.protocol.schema.field_keys import TYPE_CHANGES
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)

if TYPE_CHECKING:
    from deltaweb.delta.log.store import TableStore

MAPPED: Final = "mapped columns"
VECTORS: Final = "deletion vectors"
VARIANTS: Final = "variant columns"
WIDENED: Final = "widened columns"


class DatasetInexactError(DeltaError, code="dataset-inexact"):
    """A dataset of pyarrow would not have the rows of a version.

    Attributes:
        features: What its files do not say.
    """

    root: str
    version: int
    features: tuple[str, ...]
    message = (
        "A pyarrow dataset of {root} at version {version} would have other rows, "
        "because pyarrow does not support {features}."
    )
    hint = "Use read, scan or to_duckdb."


def snapshot_dataset(  # noqa: PLR0913  # what a version is
    store: "TableStore",
    version: int,
    files: pa.Table,
    *,
    schema: StructType,
    protocol: Protocol,
    metadata: Metadata,
) -> ds.Dataset:
    """Return the files of a version as a dataset; none is opened yet.

    Raises:
        DatasetInexactError: If the version has deletion vectors, or columns that are
            mapped, widened or variants.
        DeltaError: If a column or a partition value does not read.
    """
    vectors, schema_text = files["dv_id"], metadata.schema_string or ""
    unread = [unread_type(column.data_type) for column in schema.fields]
    found = {
        VECTORS: vectors.null_count < len(vectors),
        MAPPED: has_mapped_columns(protocol, metadata),
        WIDENED: TYPE_CHANGES in schema_text,
        VARIANTS: '"variant"' in schema_text,
        **{f"the type {name}": True for name in unread if name},
    }
    if names := tuple(name for name, is_there in found.items() if is_there):
        raise DatasetInexactError(root=store.root, version=version, features=names)
    kind = ds.ParquetFileFormat(
        coerce_int96_timestamp_unit="us",
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(
            page_checksum_verification=True
        ),
    )
    place = fs.PyFileSystem(_FilesOfTable(store))
    columns = partition_schema(schema, metadata.partition_columns)
    fragments = [
        kind.make_fragment(path, place, partition_expression=values)
        for path, values in _file_values(files, columns)
    ]
    rows = arrow_schema(schema)
    # pyarrow refuses a null struct with a field that is NOT NULL.
    parts = [
        field.with_type(loose.type)
        for field, loose in zip(rows, nullable_schema(rows), strict=True)
    ]
    return ds.FileSystemDataset(fragments, pa.schema(parts), kind, place)


def _file_values(
    files: pa.Table, columns: StructType
) -> Iterator[tuple[str, pc.Expression | None]]:
    """Yield each file with the condition that all of its rows fulfil."""
    typed = type_partition_values(files["partition_values"], columns, files["path"])
    parts = [
        (pc.field(name), pc.struct_field(typed, [position]))
        for position, name in enumerate(columns.names)
    ]
    for row, path in enumerate(files["path"].to_pylist()):
        values = [(field, column[row]) for field, column in parts]
        conditions = [
            field == value if value.is_valid else field.is_null()
            for field, value in values
        ]
        yield path, reduce(and_, conditions) if conditions else None


class _FilesOfTable(fs.FileSystemHandler):  # type: ignore[misc]  # pyarrow has no types
    """The data files of a table by their paths in the log, wherever they are."""

    def __init__(self, store: "TableStore") -> None:
        self._store = store

    def get_type_name(self) -> str:
        return "delta"

    def normalize_path(self, path: str) -> str:
        return path

    def open_input_file(self, path: str) -> pa.NativeFile:
        return self._store.open_data_file(path)

    open_input_stream = open_input_file

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        """Say of each path that it is a file: the log lists no others."""
        return [fs.FileInfo(path, fs.FileType.File) for path in paths]

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        message = "the files of a version are only read"
        raise NotImplementedError(message)

    get_file_info_selector = create_dir = delete_dir = delete_dir_contents = _refuse
    delete_root_dir_contents = delete_file = move = copy_file = _refuse
    open_output_stream = open_append_stream = _refuse
