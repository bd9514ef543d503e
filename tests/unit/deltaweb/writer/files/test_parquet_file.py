"""How a data file is written: compressed, and with which bounds in its footer."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.protocol.table_properties import data_file_codec
from deltaweb.table import DeltaTable
from deltaweb.writer.files import data_files
from tests.support.tables.table_builder import ROWS, TableBuilder, numbers


@pytest.mark.parametrize(
    ("codec", "stored", "ending"),
    [
        (None, "SNAPPY", ".c000.snappy.parquet"),
        ("ZSTD", "ZSTD", ".c000.zstd.parquet"),
        ("gzip", "GZIP", ".c000.gz.parquet"),
        ("lz4", "LZ4", ".c000.lz4raw.parquet"),
        ("uncompressed", "UNCOMPRESSED", ".c000.parquet"),
    ],
)
def test_files_are_compressed_as_the_table_says(codec, stored, ending):
    feed = {"delta.enableChangeDataFeed": "true"}
    said = {} if codec is None else {"delta.parquet.compression.codec": codec}
    table = TableBuilder().properties(feed).properties(said).rows(ROWS).build()
    table.update({"n": "n + 1"}, where="n = 1")
    table.optimize()

    places = [str(p) for some in table.store.list_data_files() for p in some]
    assert len(places) == 3
    for place in places:
        assert place.endswith(ending)
        metadata = pq.read_metadata(table.store.open_data_file(place))
        assert metadata.row_group(0).column(0).compression == stored


def test_a_codec_that_is_not_written_here_is_refused() -> None:
    name = "delta.parquet.compression.codec"
    table = TableBuilder().build()
    with pytest.raises(PropertyError, match="zstd"):
        table.set_properties({name: "LZO"})
    assert data_file_codec({name: "Brotli"}) == "brotli"
    with pytest.raises(PropertyError):
        data_file_codec({name: "LZO"})


class TestANaN:
    """No reader may skip the rows of a NaN by the bounds of a footer."""

    SCHEMA = pa.schema([("n", pa.int64()), ("x", pa.float64()), ("y", pa.float64())])

    def unbounded(self, table: DeltaTable) -> list[set[str]]:
        """For each file the columns without bounds in any row group."""
        found = []
        for path in sorted(table.snapshot().files["path"].to_pylist()):
            metadata = pq.read_metadata(table.store.open_data_file(path))
            found.append(
                {
                    metadata.row_group(group).column(at).path_in_schema
                    for group in range(metadata.num_row_groups)
                    for at in range(metadata.num_columns)
                    if metadata.row_group(group).column(at).statistics is None
                }
            )
        return found

    def rows(self, n: int, x: float, y: float) -> pa.RecordBatch:
        return pa.record_batch([[n], [x], [y]], schema=self.SCHEMA)

    def test_takes_the_bounds_of_its_column_alone(self) -> None:
        rows = pa.Table.from_batches([self.rows(1, math.nan, 1.0)])
        table = TableBuilder().rows(rows).build()

        assert self.unbounded(table) == [{"x"}]

    def test_that_comes_late_begins_another_file(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(data_files, "ROW_GROUP_ROWS", 1)
        table = TableBuilder().columns(self.SCHEMA).build()
        values = [(1.0, 1.0), (math.nan, 1.0), (1.0, math.nan), (math.nan, 2.0)]
        some = [self.rows(n, *both) for n, both in enumerate(values)]

        table.append(pa.Table.from_batches(some))

        assert sorted(map(sorted, self.unbounded(table))) == [[], ["x"], ["x", "y"]]
        assert numbers(table) == [0, 1, 2, 3]

    def test_has_none_wherever_rows_are_written_again(self) -> None:
        builder = TableBuilder().columns(self.SCHEMA).features("deletionVectors")
        table = builder.property("delta.enableChangeDataFeed").build()
        rows = [self.rows(n, math.nan if n % 2 else 1.0, 1.0) for n in range(4)]
        table.append(pa.Table.from_batches(rows[:2]))
        table.append(pa.Table.from_batches(rows[2:]))
        table.update({"n": "n + 10"}, where="n = 1")
        changed = self.change_files(table)
        table.optimize()

        assert self.unbounded(table) == [{"x"}]
        assert changed == {"x"}

    def change_files(self, table: DeltaTable) -> set[str]:
        (place,) = [
            str(place)
            for places in table.store.list_data_files()
            for place in places
            if str(place).startswith("_change_data/")
        ]
        group = pq.read_metadata(table.store.open_data_file(place)).row_group(0)
        chunks = [group.column(at) for at in range(group.num_columns)]
        return {c.path_in_schema for c in chunks if c.statistics is None}
