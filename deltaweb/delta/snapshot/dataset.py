"""A version as a dataset of pyarrow, for tables whose files are their rows.

A dataset knows the files, their partition values and the columns, and nothing else of
Delta. Where rows are more than that it would answer wrongly, and is refused by the
name of what stands in its way.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import has_mapped_columns
from deltaweb.delta.features.type_widening import TYPE_CHANGES
from deltaweb.delta.protocol.schema import arrow_schema, unread_type
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)

if TYPE_CHECKING:
    from deltaweb.delta.log.store import TableStore
    from deltaweb.delta.snapshot.snapshot import Snapshot

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
        "A pyarrow dataset of {root} at version {version} would not have its rows:"
        " it knows nothing of {features}."
    )
    hint = "Read them by read, scan or to_duckdb, which do."


def snapshot_dataset(snapshot: "Snapshot", store: "TableStore") -> ds.Dataset:
    """Return the files of a version as a dataset; none is opened yet.

    Raises:
        DatasetInexactError: If the version has deletion vectors, or columns that are
            mapped, widened or variants.
        DeltaError: As `Snapshot.scan` does.
    """
    _check_exact(snapshot, store.root)
    schema = arrow_schema(snapshot.schema)
    kind = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
    files = fs.PyFileSystem(_FilesOfTable(store))
    fragments = [
        kind.make_fragment(path, files, partition_expression=values)
        for path, values in _file_values(snapshot)
    ]
    return ds.FileSystemDataset(fragments, schema, kind, files)


def _check_exact(snapshot: "Snapshot", root: str) -> None:
    vectors = snapshot.files["dv_id"]
    schema_text = snapshot.metadata.schema_string or ""
    types = [unread_type(column.data_type) for column in snapshot.schema.fields]
    found = {
        VECTORS: vectors.null_count < len(vectors),
        MAPPED: has_mapped_columns(snapshot.protocol, snapshot.metadata),
        WIDENED: TYPE_CHANGES in schema_text,
        VARIANTS: '"variant"' in schema_text,
    }
    names = tuple(name for name, is_there in found.items() if is_there)
    if names or any(types):
        features = names or tuple(f"the type {name}" for name in types if name)
        raise DatasetInexactError(
            root=root, version=snapshot.version, features=features
        )


def _file_values(snapshot: "Snapshot") -> Iterator[tuple[str, pc.Expression | None]]:
    """Yield each file with the condition that all of its rows fulfil."""
    table = snapshot.files
    columns = partition_schema(snapshot.schema, snapshot.metadata.partition_columns)
    typed = type_partition_values(table["partition_values"], columns, table["path"])
    parts = [
        (name, pc.struct_field(typed, [position]))
        for position, name in enumerate(columns.names)
    ]
    for row, path in enumerate(table["path"].to_pylist()):
        condition = None
        for name, values in parts:
            value = values[row]
            field = pc.field(name)
            one = field == value if value.is_valid else field.is_null()
            condition = one if condition is None else condition & one
        yield path, condition


class _FilesOfTable(fs.FileSystemHandler):  # type: ignore[misc]  # pyarrow has no types
    """The data files of a table by their paths in the log, wherever they are."""

    def __init__(self, store: "TableStore") -> None:
        self._store = store

    def get_type_name(self) -> str:
        """Name the kind of file system."""
        return "delta"

    def normalize_path(self, path: str) -> str:
        """Return the path as the log has it."""
        return path

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Open a data file."""
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
