"""What small files become in memory is bounded, and rows come out as they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    PrimitiveType,
    StructField,
    StructType,
    schema_of_arrow,
)
from deltaweb.delta.scan import decoded_bytes
from deltaweb.delta.scan.data_file import MIN_ROWS, DataFile
from deltaweb.delta.scan.rows import iter_rows
from deltaweb.delta.scan.small_files import packed_rows
from deltaweb.parquet.tail import read_footer
from deltaweb.parquet.values.dictionaries import StoredChunks, longest_values
from deltaweb.table import DeltaTable

pytestmark = pytest.mark.slow

MEBIBYTE = 1 << 20
LONG = "x" * 100_000
SHAPES: dict[str, Any] = {
    "list": lambda texts: texts,
    "list of lists": lambda texts: [texts, None, []],
    "list of structs": lambda texts: [{"t": text, "n": 1} for text in texts],
    "struct of a list": lambda texts: {"l": texts, "t": "short"},
    "map": lambda texts: [(f"{n}{text}"[:8], text) for n, text in enumerate(texts)],
    "list of binary": lambda texts: [text and text.encode() for text in texts],
}
TYPES = {
    "list": pa.list_(pa.string()),
    "list of lists": pa.list_(pa.list_(pa.string())),
    "list of structs": pa.list_(pa.struct({"t": pa.string(), "n": pa.int32()})),
    "struct of a list": pa.struct({"l": pa.list_(pa.string()), "t": pa.string()}),
    "map": pa.map_(pa.string(), pa.string()),
    "list of binary": pa.list_(pa.binary()),
}


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> int:
    """A hundredth of the bounds, so that files of a few megabytes are beyond them."""
    for name in ("UNSEEN_BYTES", "DECODED_BYTES", "ROW_BYTES"):
        monkeypatch.setattr(decoded_bytes, name, getattr(decoded_bytes, name) // 100)
    return decoded_bytes.DECODED_BYTES


@contextmanager
def memory_of() -> Iterator[pa.MemoryPool]:
    """Count what Arrow takes within the block."""
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        yield counted
    finally:
        pa.set_memory_pool(usual)


def repeated(value: Any, count: int) -> pa.Array:  # noqa: ANN401  # any
    """Codes of one value, which takes its memory once."""
    codes = pa.array([0] * count, pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array([value]))


def written(path: Path, columns: dict[str, Any], **options: Any) -> StructType:  # noqa: ANN401  # of the writer
    options = {"compression": "zstd", "store_schema": False, **options}
    pq.write_table(pa.table(columns), path, **options)
    return schema_of_arrow(pq.read_schema(path))


def stored(value: bytes) -> dict[str, bytes]:
    """Return a variant without names as a file has it."""
    return {"metadata": b"\x01\0\0", "value": value}


def opened(path: Path) -> DataFile:
    return DataFile(path.name, lambda _: pa.OSFile(str(path)))


def batch_sizes(path: Path, schema: StructType) -> list[int]:
    with opened(path) as file:
        groups = range(file.metadata.num_row_groups)
        return [rows for g in groups for rows, _ in file.batches(schema, g)]


def test_the_bomb_of_two_kilobytes_takes_no_gigabyte(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    value = "x" * (10 * MEBIBYTE)
    schema = written(path, {name: repeated(value, 150) for name in "abcd"})
    assert path.stat().st_size < MEBIBYTE // 10

    with memory_of() as pool, opened(path) as file:
        first = [rows for rows, _ in islice(file.batches(schema, 0), 4)]

    assert first == [3, 3, 3, 3]
    assert pool.max_memory() < 1 << 30


@pytest.mark.usefixtures("small_bounds")
class TestFilesThatUnfold:
    def test_codes_that_are_looked_up_late_come_in_parts(self, tmp_path, small_bounds):
        path = tmp_path / "bomb.parquet"
        codes = pa.array([0, 1, None, 1] * (MIN_ROWS // 4), pa.int32())
        column = pa.DictionaryArray.from_arrays(codes, pa.array([LONG, "short"]))
        schema = written(path, {"a": column})

        with memory_of() as pool:
            sizes = batch_sizes(path, schema)

        assert sum(sizes) == MIN_ROWS
        assert 20 < max(sizes) < 100
        assert pool.max_memory() < 4 * small_bounds

    @pytest.mark.parametrize("kind", ["list", "struct"])
    def test_values_inside_of_others_come_some_rows_at_a_time(self, tmp_path, kind):
        path = tmp_path / "bomb.parquet"
        if kind == "list":
            values: Any = [[LONG, LONG]] * 2 + [[]] * 198 + [[LONG]] * 200
        else:
            values = [{"a": LONG}] * 200 + [None] * 200
        schema = written(path, {"a": values})

        with opened(path) as file:
            found = [(rows, held["a"].nbytes) for rows, held in file.batches(schema, 0)]

        assert sum(rows for rows, _ in found) == 400
        assert max(num_bytes for _, num_bytes in found) <= 14 * len(LONG)

    def test_values_that_repeat_the_beginnings_of_others_come_few_at_a_time(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "bomb.parquet"
        schema = written(
            path,
            {"a": [LONG] * 300},
            use_dictionary=False,
            column_encoding={"a": "DELTA_BYTE_ARRAY"},
        )

        sizes = batch_sizes(path, schema)

        assert sum(sizes) == 300
        assert max(sizes) <= 128

    def test_a_row_beyond_all_bounds_is_refused_by_file_column_and_bytes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "bomb.parquet"
        schema = written(path, {"a": repeated(LONG, 150), "b": range(150)})
        monkeypatch.setattr(decoded_bytes, "ROW_BYTES", 1_000)

        refusal = r"bomb\.parquet.*column 'a'.*100,000 bytes"
        with pytest.raises(DataFileError, match=refusal):
            batch_sizes(path, schema)

    def test_rows_are_found_in_a_table_of_such_files(self, tmp_path, small_bounds):
        table = DeltaTable.create(str(tmp_path), pa.schema({"a": pa.string()}))
        table.append(pa.table({"a": [LONG] * 2_000}))
        source = table.snapshot().row_source(table.snapshot().files)

        with memory_of() as pool:
            scanned = sum(batch.num_rows for batch in iter_rows(source))
            packed = sum(batch.num_rows for batch in packed_rows(source))

        assert scanned == packed == 2_000
        assert pool.max_memory() < 8 * small_bounds

    @pytest.mark.parametrize("limit", [10_000, 1 << 20])
    @pytest.mark.parametrize("version", ["1.0", "2.0"])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_one_long_text_among_short_ones_is_no_reason_to_refuse(
        self, tmp_path: Path, shape: str, version: str, limit: int
    ) -> None:
        path = tmp_path / "usual.parquet"
        lists: list[list[str | None]] = [[LONG], [], [None, "w"]]
        lists += [[f"w{(row + n) % 3_000}" for n in range(500)] for row in range(40)]
        values = [SHAPES[shape](texts) for texts in lists]
        values += [None]
        rows = pa.table({"n": range(len(values)), "a": pa.array(values, TYPES[shape])})
        schema = written(
            path,
            {"n": rows["n"], "a": rows["a"]},
            data_page_version=version,
            dictionary_pagesize_limit=limit,
        )
        assert len(LONG) * 500 > decoded_bytes.ROW_BYTES

        with opened(path) as file:
            found = [held for _, held in file.batches(schema, 0)]

        read = pa.concat_tables(pa.table(columns) for columns in found)
        assert read.to_pylist() == rows.to_pylist()
        assert len(found) < 4

    def test_a_row_that_becomes_much_is_refused_by_what_it_becomes(
        self, tmp_path: Path, small_bounds: int
    ) -> None:
        path = tmp_path / "bomb.parquet"
        schema = written(path, {"n": [1, 2, 3], "a": [["a"], [LONG] * 150, ["b"]]})

        refusal = r"bomb\.parquet.*column 'a'.*takes 15,000,000 bytes"
        with memory_of() as pool, pytest.raises(DataFileError, match=refusal):
            batch_sizes(path, schema)
        assert pool.max_memory() < small_bounds

    def test_variants_in_lists_are_read_as_codes_too(self, tmp_path: Path) -> None:
        path = tmp_path / "variants.parquet"
        long = b"\x40" + len(LONG).to_bytes(4, "little") + LONG.encode()
        lists = [[b"\x05%d" % (n % 7) for n in range(400)]] * 20 + [[long]]
        written(path, {"v": [[stored(value) for value in each] for each in lists]})
        schema = StructType((StructField("v", ArrayType(PrimitiveType("variant"))),))

        with opened(path) as file:
            found = [held["v"] for _, held in file.batches(schema, 0)]

        texts = [[f'"{n % 7}"' for n in range(400)]] * 20 + [[f'"{LONG}"']]
        assert pa.concat_arrays(found).to_pylist() == texts
        assert len(found) < 4


class TestFilesThatDoNot:
    def test_usual_rows_come_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "usual.parquet"
        texts = [f"text {n}" for n in range(60_000)]
        schema = written(path, {"a": texts, "b": [[1, 2]] * 60_000})

        assert batch_sizes(path, schema) == [60_000]

    def test_so_do_those_of_a_dictionary_that_was_given_up(self, tmp_path: Path):
        path = tmp_path / "usual.parquet"
        texts = [f"some longer text {n}" for n in range(60_000)]
        schema = written(path, {"a": texts}, dictionary_pagesize_limit=100_000)

        assert batch_sizes(path, schema) == [60_000]


class TestTheLongestValue:
    @pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd"])
    @pytest.mark.parametrize("version", ["1.0", "2.0"])
    def test_is_that_of_the_dictionary(self, tmp_path: Path, codec: str, version: str):
        path = tmp_path / "a.parquet"
        columns = {"a": ["abc", "ü" * 40, None] * 50, "n": [1] * 150}
        written(path, columns, compression=codec, data_page_version=version)

        with pa.OSFile(str(path)) as file:
            chunk = StoredChunks(read_footer(file)).of(0, 0)
            assert longest_values(file, [chunk, chunk]) == [80, 80]

    def test_is_none_where_there_is_no_dictionary(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        written(path, {"a": ["abc"] * 9}, use_dictionary=False)

        with pa.OSFile(str(path)) as file:
            chunk = StoredChunks(read_footer(file)).of(0, 0)
            assert longest_values(file, [chunk]) == [0]

    def test_is_all_of_the_pages_where_the_dictionary_does_not_read(self, tmp_path):
        path = tmp_path / "a.parquet"
        written(path, {"a": ["abc"] * 9})
        data = bytearray(path.read_bytes())
        data[4:40] = b"\xff" * 36

        with pa.BufferReader(bytes(data)) as file:
            chunk = StoredChunks(read_footer(file)).of(0, 0)
            assert longest_values(file, [chunk]) == [chunk.size_bytes]
