"""Manifests and their list, read back by pyiceberg."""

import datetime as dt
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from pyiceberg.avro.file import AvroFile
from pyiceberg.conversions import from_bytes
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import (
    ManifestEntryStatus,
    ManifestFile,
    read_manifest_list,
)
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.statistics.columns import read_statistics
from deltaweb.iceberg.access.object_keys import PathSealer, location_of
from deltaweb.iceberg.errors import InexpressibleError
from deltaweb.iceberg.files import known_columns
from deltaweb.iceberg.metadata import TableLayout, TableVersion, snapshot_id
from deltaweb.iceberg.objects import (
    IS_ADDED,
    IS_REWRITTEN,
    LIST,
    ObjectNames,
    version_objects,
)
from deltaweb.iceberg.schema import TableColumns
from deltaweb.index.query.file_part import ROWS_SCHEMA
from tests.support import cases

SCHEMA = StructType(
    parse_columns_ddl(
        "id BIGINT, name STRING, at TIMESTAMP, x DOUBLE, price DECIMAL(30, 2), "
        "day DATE, `odd=%` STRING"
    )
)
PARTITION_COLUMNS = ("day", "odd=%")
ROWS = ROWS_SCHEMA.insert(1, pa.field("relative_path", pa.string()))
STATS = (
    '{"numRecords":%d,"minValues":{"id":%d,"name":"a","at":"2026-01-01T00:00:00.000Z",'
    '"x":0.0,"price":1.25},"maxValues":{"id":9,"name":"z",'
    '"at":"2026-01-02T00:00:00.000Z","x":3.5,"price":2.5},'
    '"nullCount":{"id":0,"name":1,"at":0,"x":0,"price":99}}'
)


def file_row(number: int, **changed: object) -> dict[str, Any]:
    path = f"part-{number}.parquet"
    return {
        "path": path,
        "relative_path": path,
        "size": 1000 + number,
        "modification_time": 0,
        "partition_values": [("day", "2026-01-02"), ("odd=%", None)],
        "stats": STATS % (10 + number, number),
        "num_records": 10 + number,
        **changed,
    }


def table_of(*rows: dict[str, Any]) -> pa.Table:
    table = pa.Table.from_pylist(list(rows), schema=ROWS)
    known = known_columns(TableColumns(SCHEMA, PARTITION_COLUMNS))
    statistics = read_statistics(table["stats"], None, known)
    table = table.append_column("statistics", statistics.to_struct_array())
    marks = pa.repeat(False, len(rows))  # noqa: FBT003 (a value)
    return table.append_column(IS_REWRITTEN, marks)


class Made:
    """The objects of one version, in a folder that pyiceberg reads."""

    def __init__(
        self,
        folder: Path,
        rows: pa.Table,
        *,
        has_vectors: bool,
        num_added_files: int | None = None,
    ) -> None:
        columns = TableColumns(SCHEMA, PARTITION_COLUMNS)
        version = TableVersion(
            version=3,
            timestamp_ms=5,
            columns=columns,
            num_added_files=num_added_files,
        )
        self.layout = TableLayout("id", [version], has_vectors=has_vectors)
        self.names = ObjectNames(
            table_location=location_of(UUID(int=1)),
            version_location=str(folder),
            sealer=PathSealer([b"k"], "scope"),
        )
        snapshot = self.layout.snapshot(3)
        ids = self.layout.ids
        self.objects = version_objects(rows, version, snapshot, ids, self.names)
        for name, data in self.objects.objects.items():
            (folder / name).write_bytes(data)
        self.io = PyArrowFileIO()
        self.folder = folder

    def manifests(self) -> list[ManifestFile]:
        return list(read_manifest_list(self.io.new_input(str(self.folder / LIST))))

    def files(self) -> list[Any]:
        return [
            entry.data_file
            for manifest in self.manifests()
            for entry in manifest.fetch_manifest_entry(self.io)
        ]

    @property
    def schema(self) -> Schema:
        return self.metadata.schema()

    @property
    def metadata(self) -> TableMetadata:
        return TableMetadataUtil.parse_obj(
            self.layout.metadata(location="s3://x", list_locations=["s3://x/l"])
        )


@pytest.fixture(params=[False, True], ids=["version 2", "version 3"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    rows = table_of(*(file_row(number) for number in (2, 0, 1)))
    return Made(tmp_path, rows, has_vectors=request.param)


def test_a_list_tells_of_its_manifests_exactly(made: Made) -> None:
    (manifest,) = made.manifests()

    data = (made.folder / "0.avro").read_bytes()
    assert manifest.manifest_length == len(data)
    assert manifest.existing_files_count == 3
    assert manifest.existing_rows_count == made.objects.num_rows == 33
    assert manifest.added_snapshot_id == made.metadata.current_snapshot_id
    assert manifest.sequence_number == 3
    day, odd = manifest.partitions or []
    assert (day.contains_null, odd.contains_null) == (False, True)
    assert odd.lower_bound is None
    assert day.lower_bound == day.upper_bound


def test_a_manifest_tells_of_its_files_in_the_order_of_paths(made: Made) -> None:
    files = made.files()

    assert [file.record_count for file in files] == [10, 11, 12]
    assert [file.file_size_in_bytes for file in files] == [1000, 1001, 1002]
    assert [list(file.partition) for file in files] == [[20455, None]] * 3
    sealer = made.names.sealer
    for number, file in enumerate(files):
        name = file.file_path.removeprefix(f"{made.names.table_location}/data/")
        text = name.removesuffix(".parquet")
        assert sealer.open("data", text) == f"part-{number}.parquet"


def bounds(made: Made, name: str) -> tuple[Any, Any]:
    field: Any = made.schema.find_field(name)
    file = made.files()[0]
    found = [
        limits.get(field.field_id) for limits in (file.lower_bounds, file.upper_bounds)
    ]
    low, high = (
        None if one is None else from_bytes(field.field_type, one) for one in found
    )
    return low, high


@cases(
    "name, low, high",
    {
        "numbers are as they are": ("id", 0, 9),
        "a text may have been cut": ("name", "a", "z\U0010ffff"),
        "a time may have been cut to the millisecond": (
            "at",
            int(dt.datetime(2026, 1, 1, tzinfo=dt.UTC).timestamp()) * 1_000_000,
            int(dt.datetime(2026, 1, 2, tzinfo=dt.UTC).timestamp()) * 1_000_000 + 999,
        ),
        "NaN is above what is told": ("x", -0.0, None),
        "a long decimal may be rounded": ("price", None, None),
        "partitions have values instead": ("day", None, None),
    },
)
def test_bounds_hold_however_the_log_was_written(made, name, low, high):
    assert bounds(made, name) == (low, high)


def test_nulls_are_counted_where_the_count_can_be(made: Made) -> None:
    file = made.files()[0]
    by_name = {
        name: file.null_value_counts.get(made.schema.find_field(name).field_id)
        for name in ("id", "name", "price")
    }

    assert by_name == {"id": 0, "name": 1, "price": None}


VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "vBn[lx{q8@P<9BNH/isA",
    "offset": 1,
    "sizeInBytes": 36,
    "cardinality": 2,
}


def test_a_deletion_vector_is_told_of_beside_its_file(tmp_path: Path) -> None:
    rows = table_of(file_row(0), file_row(1, deletion_vector=VECTOR))

    made = Made(tmp_path, rows, has_vectors=True)

    (entry,) = avro_rows(tmp_path / "0-vectors.avro")
    content, location, kind, _, num_deleted, size = list(entry[4])[:6]
    assert (content, kind, num_deleted) == (1, "PUFFIN", 2)
    assert list(entry[4])[-3:] == [made.files()[1].file_path, 4, 44]
    assert location.endswith(".puffin")
    assert size > 44


def avro_rows(path: Path) -> list[Any]:
    file: AvroFile[Any] = AvroFile(PyArrowFileIO().new_input(str(path)))
    with file as rows:
        return list(rows)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"num_records": None}, "how many rows"),
        ({"deletion_vector": {"storageType": "u", "cardinality": 1}}, "has a deletion"),
    ],
)
def test_a_file_that_cannot_be_told_of_is_refused(changed, reason, tmp_path):
    rows = table_of(file_row(0, **changed))

    with pytest.raises(InexpressibleError, match=reason):
        Made(tmp_path, rows, has_vectors=False)


def marked(*added: bool, **changed: object) -> pa.Table:
    """Files of which some were added by the commit."""
    rows = [file_row(number, **changed) for number in range(len(added))]
    return table_of(*rows).append_column(IS_ADDED, pa.array(added))


@pytest.mark.parametrize("has_vectors", [False, True])
def test_files_that_were_added_have_manifests_of_their_own(tmp_path, *, has_vectors):
    rows = marked(True, False, True)  # noqa: FBT003 (values)

    made = Made(tmp_path, rows, has_vectors=has_vectors, num_added_files=2)

    older, added = made.manifests()
    counts = [
        (one.added_files_count, one.existing_files_count, one.deleted_files_count)
        for one in (older, added)
    ]
    assert counts == [(0, 1, 0), (2, 0, 0)]
    assert (older.existing_rows_count, older.added_rows_count) == (11, 0)
    assert (added.existing_rows_count, added.added_rows_count) == (0, 22)
    own, before = snapshot_id("id", 3), snapshot_id("id", 2)
    assert {one.added_snapshot_id for one in (older, added)} == {own}
    assert (older.sequence_number, older.min_sequence_number) == (3, 2)
    assert (added.sequence_number, added.min_sequence_number) == (3, 3)
    found = [
        (one.status, one.snapshot_id, one.sequence_number, one.data_file.record_count)
        for manifest in (older, added)
        for one in manifest.fetch_manifest_entry(made.io)
    ]
    assert found == [
        (ManifestEntryStatus.EXISTING, before, 2, 11),
        (ManifestEntryStatus.ADDED, own, 3, 10),
        (ManifestEntryStatus.ADDED, own, 3, 12),
    ]


def test_a_commit_that_added_no_file_has_older_ones_alone(tmp_path: Path) -> None:
    made = Made(tmp_path, marked(False), has_vectors=False, num_added_files=0)  # noqa: FBT003 (a value)

    (manifest,) = made.manifests()
    assert (manifest.added_files_count, manifest.existing_files_count) == (0, 1)


@pytest.mark.parametrize(
    ("changed", "num_added_files"),
    [({}, 2), ({}, 0), ({"deletion_vector": VECTOR}, 1)],
)
def test_other_files_than_those_counted_are_refused(tmp_path, changed, num_added_files):
    rows = marked(True, **changed)  # noqa: FBT003 (a value)

    with pytest.raises(InexpressibleError, match="log has changed"):
        Made(tmp_path, rows, has_vectors=True, num_added_files=num_added_files)
