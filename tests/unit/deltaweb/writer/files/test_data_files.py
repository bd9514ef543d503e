"""Rows become data files: split by partition, of a target size, each of a new name."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import PropertyError, SchemaError, StorageFullError
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import format_schema, schema_of_arrow
from deltaweb.delta.values.partition_values import partition_texts, type_partition_texts
from deltaweb.writer.files import data_files, partition_split
from deltaweb.writer.files.data_files import DataFileWriter, FileLayout
from tests.support.stores.memory import MemoryPendingFile, MemoryTableStore
from tests.support.tables.table_builder import TableBuilder, numbers
from tests.support.tables.written_tables import PROTOCOL


def layout(schema: pa.Schema, *partitions: str, **properties: str) -> FileLayout:
    return FileLayout.of_table(
        PROTOCOL,
        Metadata(
            id="id",
            schema_string=format_schema(schema_of_arrow(schema)),
            partition_columns=list(partitions),
            configuration=properties,
        ),
    )


def test_files_have_partition_columns_last_where_the_table_asks_for_it() -> None:
    builder = TableBuilder().partitioned_by("p").features("materializePartitionColumns")
    asked = builder.property("delta.enableMaterializePartitionColumnsFeature")
    table = asked.rows(p=["x", None], n=[1, 2]).build()

    found = {
        tuple(pq.read_table(table.store.open_data_file(path)).to_pylist()[0].items())
        for path in table.snapshot().files["path"].to_pylist()
    }
    assert found == {(("n", 1), ("p", "x")), (("n", 2), ("p", None))}
    assert numbers(table) == [1, 2]


def write(store: MemoryTableStore, rows: pa.Table, *partitions: str) -> pa.Table:
    with DataFileWriter(store, layout(rows.schema, *partitions)) as writer:
        for batch in rows.to_batches(max_chunksize=3):
            writer.write(batch)
        return writer.finish()


def stored(store: MemoryTableStore, path: str) -> pa.Table:
    with store.open_data_file(path) as file:
        return pq.read_table(file)


def values_of(files: pa.Table) -> list[dict[str, str | None]]:
    return [dict(values) for values in files["partition_values"].to_pylist()]


def test_rows_become_a_file_with_its_statistics() -> None:
    store = MemoryTableStore()

    files = write(store, pa.table({"a": [1, None, 3, 4]}))

    [file] = files.to_pylist()
    assert stored(store, file["path"]).to_pydict() == {"a": [1, None, 3, 4]}
    assert file["size"] == len(next(iter(store.data_files.values())))
    assert json.loads(file["stats"]) == {
        "numRecords": 4,
        "minValues": {"a": 1},
        "maxValues": {"a": 4},
        "nullCount": {"a": 1},
    }


def test_no_rows_make_no_file() -> None:
    store = MemoryTableStore()

    assert write(store, pa.table({"a": pa.array([], pa.int64())})).num_rows == 0
    assert not store.data_files


def test_each_partition_has_files_of_its_own_without_its_columns() -> None:
    store = MemoryTableStore()
    rows = pa.table(
        {"p": ["x", "y", None, "", "x"], "q": [1, 1, 2, 2, 2], "a": [1, 2, 3, 4, 5]}
    )

    files = write(store, rows, "p", "q")

    found = {
        tuple(values.values()): stored(store, path)["a"].to_pylist()
        for values, path in zip(
            values_of(files), files["path"].to_pylist(), strict=True
        )
    }
    assert found == {
        ("x", "1"): [1],
        ("y", "1"): [2],
        (None, "2"): [3, 4],
        ("x", "2"): [5],
    }


@pytest.mark.parametrize(
    "text", ["a b", "a/b", "a%20b", "ä", "..", "x" * 500, 'q"?#', "\x01", "_h", "="]
)
def test_a_value_in_a_path_is_encoded_once_for_the_disk_and_once_for_the_log(text: str):
    store = MemoryTableStore()

    files = write(store, pa.table({"_p ö": [text], "a": [1]}), "_p ö")

    [path], [values] = files["path"].to_pylist(), values_of(files)
    assert values == {"_p ö": text}
    assert stored(store, path)["a"].to_pylist() == [1]
    folder, _ = unquote(path).split("/")
    assert len(folder) <= 150
    assert folder.startswith("%5Fp%20%C3%B6=")


def test_a_target_size_ends_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "ROW_GROUP_ROWS", 10_000)
    store = MemoryTableStore()
    rows = pa.table({"a": range(100_000)})
    wanted = layout(rows.schema, **{"delta.targetFileSize": "64 kb"})

    with DataFileWriter(store, wanted) as writer:
        for batch in rows.to_batches(max_chunksize=10_000):
            writer.write(batch)
        files = writer.finish()

    assert files.num_rows > 3
    assert max(files["size"].to_pylist()) < 3 * 65_536
    assert sum(json.loads(s)["numRecords"] for s in files["stats"].to_pylist()) == 10**5


def test_many_partitions_are_written_with_few_files_open(monkeypatch):
    monkeypatch.setattr(data_files, "MAX_OPEN_FILES", 3)
    monkeypatch.setattr(data_files, "MAX_WAITING_BYTES", 1_000)
    monkeypatch.setattr(data_files, "ROW_GROUP_ROWS", 100)
    store = MemoryTableStore()
    rows = pa.table({"p": [i % 40 for i in range(2_000)], "a": range(2_000)})

    files = write(store, rows, "p")

    found: list[int] = []
    for path, values in zip(files["path"].to_pylist(), values_of(files), strict=True):
        part = stored(store, path)["a"].to_pylist()
        assert {value % 40 for value in part} == {int(values["p"] or "")}
        found += part
    assert sorted(found) == list(range(2_000))


def test_an_error_takes_every_file_back() -> None:
    store = MemoryTableStore()
    rows = pa.table({"p": ["x", "y"], "a": [1, 2]})

    def fail() -> None:
        with DataFileWriter(store, layout(rows.schema, "p")) as writer:
            writer.write(rows)
            writer.finish()
            assert len(store.data_files) == 2
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not store.data_files


def test_columns_without_a_type_are_in_no_file() -> None:
    store = MemoryTableStore()
    point = pa.array(
        [{"x": 1, "v": None}], pa.struct({"x": pa.int64(), "v": pa.null()})
    )

    files = write(store, pa.table({"a": [1], "v": pa.nulls(1), "p": point}))

    assert stored(store, files["path"][0].as_py()).to_pydict() == {
        "a": [1],
        "p": [{"x": 1}],
    }


def test_a_table_needs_a_column_beside_its_partitions() -> None:
    with pytest.raises(SchemaError, match="every column is a partition"):
        layout(pa.schema({"p": pa.string()}), "p")


def test_a_size_that_is_none_is_refused() -> None:
    with pytest.raises(PropertyError, match="128mb"):
        layout(pa.schema({"a": pa.int64()}), **{"delta.targetFileSize": "huge"})


# === Partition values ===


@pytest.mark.parametrize(
    ("value", "data_type", "text"),
    [
        (-7, pa.int64(), "-7"),
        (Decimal("-0.05"), pa.decimal128(10, 2), "-0.05"),
        (1.5, pa.float64(), "1.5"),
        (date(1970, 1, 1), pa.date32(), "1970-01-01"),
        (
            datetime(1970, 1, 1, tzinfo=UTC),
            pa.timestamp("us", "UTC"),
            "1970-01-01T00:00:00.000000Z",
        ),
        (
            datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=UTC),
            pa.timestamp("us", "UTC"),
            "2026-01-02T03:04:05.000600Z",
        ),
        (0, pa.timestamp("us"), "1970-01-01 00:00:00"),
        (600, pa.timestamp("us"), "1970-01-01 00:00:00.000600"),
        (
            253_402_300_800_000_000,
            pa.timestamp("us", "UTC"),
            "+10000-01-01T00:00:00.000000Z",
        ),
        (True, pa.bool_(), "true"),
        (b"\x01\x02\x03", pa.binary(), "\x01\x02\x03"),
        (b"\xff\x00", pa.binary(), "\\u00ff\\u0000"),
        ("__HIVE_DEFAULT_PARTITION__", pa.string(), "__HIVE_DEFAULT_PARTITION__"),
        ("", pa.string(), None),
        (None, pa.int64(), None),
    ],
)
def test_a_partition_value_is_the_text_of_the_specification(value, data_type, text):
    assert partition_texts(pa.array([value], data_type)) == [text]


ANY_VALUES = st.one_of(
    st.tuples(st.just(pa.int64()), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just(pa.float64()), st.floats(allow_nan=False)),
    st.tuples(st.just(pa.float32()), st.floats(width=32, allow_nan=False)),
    st.tuples(st.just(pa.decimal128(38, 9)), st.decimals(-(10**28), 10**28, places=9)),
    st.tuples(st.just(pa.string()), st.text(min_size=1)),
    st.tuples(st.just(pa.binary()), st.binary(min_size=1)),
    st.tuples(st.just(pa.date32()), st.integers(-800_000, 3_000_000)),
    st.tuples(st.just(pa.timestamp("us", "UTC")), st.integers(-(2**60), 2**60)),
    st.tuples(st.just(pa.bool_()), st.booleans()),
)


@given(ANY_VALUES)
def test_a_partition_value_is_read_as_it_was_written(drawn: tuple[Any, Any]) -> None:
    data_type, value = drawn
    values = pa.array([value], data_type)
    column = schema_of_arrow(pa.schema({"p": data_type})).fields[0]

    texts = pa.array(partition_texts(values), pa.string())

    assert pc.equal(
        type_partition_texts(texts, column.data_type), values
    ).to_pylist() == [True]


def test_a_file_that_storage_does_not_take_takes_all_back() -> None:
    class FullStore(MemoryTableStore):
        def put_data_file(self, path: str, data: bytes) -> None:
            if "p=y" in path:
                raise StorageFullError(location=path, reason="it is full")
            super().put_data_file(path, data)

    store = FullStore()
    rows = pa.table({"p": ["x", "y", "z"], "a": [1, 2, 3]})

    with pytest.raises(StorageFullError):
        write(store, rows, "p")

    assert not store.data_files


@pytest.mark.parametrize("broken", [0, 20, 99])
def test_a_fault_among_many_files_takes_all_back(broken: int) -> None:
    class FullStore(MemoryTableStore):
        def put_data_file(self, path: str, data: bytes) -> None:
            if f"p={broken}/" in path:
                raise StorageFullError(location=path, reason="it is full")
            super().put_data_file(path, data)

    store = FullStore()

    with pytest.raises(StorageFullError):
        write(store, pa.table({"p": range(100), "a": range(100)}), "p")

    assert not store.data_files


@pytest.mark.parametrize("count", [2, 16, 23, 100])
def test_many_files_are_listed_in_the_order_of_their_numbers(count: int) -> None:
    store = MemoryTableStore()

    files = write(store, pa.table({"p": range(count), "a": range(count)}), "p")

    paths = files["path"].to_pylist()
    numbers = [int(path.split("part-")[1][:5]) for path in paths]
    assert numbers == list(range(count))
    assert [values["p"] for values in values_of(files)] == [*map(str, range(count))]


class CountedFile(MemoryPendingFile):
    """A file that keeps apart what is written to it."""

    class Sink:
        def __init__(self) -> None:
            self.writes: list[bytes] = []

        def write(self, data: pa.Buffer) -> None:
            self.writes.append(data.to_pybytes())

    def __init__(self, store: MemoryTableStore, path: str) -> None:
        super().__init__(store, path, put=store.put_data_file)
        self.sink = self.Sink()

    def finish(self) -> int:
        self._data = b"".join(self.sink.writes)
        return len(self._data)


def test_a_small_file_goes_to_storage_by_one_write() -> None:
    begun: list[CountedFile] = []

    class CountingStore(MemoryTableStore):
        def begin_data_file(self, path: str) -> CountedFile:
            begun.append(CountedFile(self, path))
            return begun[-1]

    store = CountingStore()

    files = write(store, pa.table({"p": range(40), "a": range(40)}), "p")

    assert [len(file.sink.writes) for file in begun] == [1] * 40
    assert stored(store, files["path"][7].as_py())["a"].to_pylist() == [7]


def test_partitions_of_many_columns_and_values_are_told_apart(monkeypatch):
    rows = pa.table(
        {
            "p": [number % 7 for number in range(300)],
            "q": [None if number % 5 == 4 else number % 5 for number in range(300)],
            "a": range(300),
        }
    )

    counted = write(MemoryTableStore(), rows, "p", "q")
    monkeypatch.setattr(partition_split, "MAX_COUNTED", 0)
    sorted_ = write(MemoryTableStore(), rows, "p", "q")

    assert counted.num_rows == 35
    for name in ("partition_values", "stats", "size"):
        assert counted[name] == sorted_[name]


@pytest.mark.parametrize("kind", [pa.list_(pa.null()), pa.map_(pa.string(), pa.null())])
def test_a_column_that_no_file_has_is_not_counted(kind: pa.DataType) -> None:
    store = MemoryTableStore()
    rows = pa.table({"a": [1, 2], "v": pa.nulls(2, kind)})

    files = write(store, rows)

    assert stored(store, files["path"][0].as_py()).column_names == ["a"]
    assert json.loads(files["stats"][0].as_py())["nullCount"] == {"a": 0}
