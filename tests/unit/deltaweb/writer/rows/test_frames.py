"""Frames of Polars and pandas, and encoded Arrow columns, become rows of a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from deltaweb import DeltaTable
from deltaweb.delta.writing.errors import SchemaMismatchError

VIEWS = pa.DictionaryArray.from_arrays(
    pa.array([0, None, 1], pa.int8()), pa.array(["a", "b"], pa.string_view())
)
TWICE = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), VIEWS)
RUNS = pa.RunEndEncodedArray.from_arrays(
    pa.array([1, 2, 3], pa.int32()), pa.array(["a", None, "b"], pa.string_view())
)
RUNS_OF_CODES = pa.RunEndEncodedArray.from_arrays(
    pa.array([1, 2, 3], pa.int32()), VIEWS
)
TEXTS = ["a", None, "b"]


def made(
    place: Path, schema: list[tuple[str, pa.DataType]], partition_by: Sequence[str] = ()
) -> DeltaTable:
    root = str(place / "table")
    return DeltaTable.create(root, pa.schema(schema), partition_by=partition_by)


def rows(table: DeltaTable) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.snapshot().read().to_pylist()
    return found


@pytest.mark.parametrize("texts", [VIEWS, TWICE, RUNS, RUNS_OF_CODES])
class TestEncodedTexts:
    def test_become_texts(self, tmp_path: Path, texts: pa.Array) -> None:
        table = made(tmp_path, [("kind", pa.string())])
        table.append(pa.table({"kind": texts}))
        assert [row["kind"] for row in rows(table)] == TEXTS

    def test_in_a_slice(self, tmp_path: Path, texts: pa.Array) -> None:
        table = made(tmp_path, [("kind", pa.string())])
        table.append(pa.table({"kind": texts.slice(1, 2)}))
        assert [row["kind"] for row in rows(table)] == TEXTS[1:]

    def test_in_a_list_and_a_struct(self, tmp_path: Path, texts: pa.Array) -> None:
        kinds = [
            ("list", pa.list_(pa.string())),
            ("struct", pa.struct([("kind", pa.string()), ("n", pa.int64())])),
        ]
        table = made(tmp_path, kinds)
        offsets, numbers = pa.array([0, 1, 3, 3], pa.int32()), pa.array([1, 2, 3])
        lists = pa.ListArray.from_arrays(offsets, texts)
        small = numbers.cast(pa.int16())
        structs = pa.StructArray.from_arrays([texts, small], ["kind", "n"])
        table.append(pa.table({"list": lists, "struct": structs}))
        assert [row["list"] for row in rows(table)] == [["a"], [None, "b"], []]
        assert [row["struct"]["kind"] for row in rows(table)] == TEXTS

    def test_divide_a_table_and_merge(self, tmp_path: Path, texts: pa.Array) -> None:
        table = made(
            tmp_path, [("id", pa.int64()), ("kind", pa.string())], partition_by=["kind"]
        )
        source = pa.table({"id": [1, 2, 3], "kind": texts})
        table.overwrite(source)
        merge = table.merge(source, on="t.id = s.id and t.kind = s.kind")
        merge.when_matched_update().when_not_matched_insert().execute()
        found = sorted((row["id"], row["kind"] or "") for row in rows(table))
        assert found == [(1, "a"), (2, ""), (2, ""), (3, "b")]

    def test_become_a_new_column(self, tmp_path: Path, texts: pa.Array) -> None:
        table = made(tmp_path, [("id", pa.int64())])
        table.append(pa.table({"id": [1, 2, 3], "kind": texts}), merge_schema=True)
        assert [row["kind"] for row in rows(table)] == TEXTS


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "b"])])
def test_categories_of_polars(
    tmp_path: Path, kind: pl.Enum | type[pl.Categorical]
) -> None:
    table = made(tmp_path, [("id", pa.int64()), ("kind", pa.string())])
    frame = pl.DataFrame({"id": [1, 2, 3], "kind": pl.Series(TEXTS, dtype=kind)})
    table.append(frame)
    table.merge(frame, on="t.id = s.id").when_matched_update().execute()
    assert [row["kind"] for row in rows(table)] == TEXTS
    lists = pl.DataFrame({"tags": pl.Series([["a"], None], dtype=pl.List(kind))})
    table.overwrite(lists, overwrite_schema=True)
    assert [row["tags"] for row in rows(table)] == [["a"], None]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint32(), pa.int16()])
def test_encoded_numbers_become_wider_ones(tmp_path: Path, kind: pa.DataType) -> None:
    table = made(tmp_path, [("id", pa.int64())])
    numbers = pa.array([1, 1, 2], kind)
    table.append(pa.table({"id": pc.run_end_encode(numbers)}))
    table.append(pa.table({"id": numbers.dictionary_encode()}))
    assert [row["id"] for row in rows(table)] == [1, 1, 2, 1, 1, 2]


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.int64()),
        pa.struct([("x", pa.list_(pa.string()))]),
        pa.map_(pa.string(), pa.int64()),
        pa.list_(pa.struct([("x", pa.int64())])),
    ],
)
def test_a_column_of_nulls_fits_every_type(tmp_path: Path, kind: pa.DataType) -> None:
    table = made(tmp_path, [("id", pa.int64()), ("nested", kind)])
    frame = pa.table({"id": [1], "nested": pa.nulls(1)})
    table.append(frame)
    table.append(pd.DataFrame({"id": [2], "nested": [None]}))
    table.append(pl.DataFrame({"id": [3], "nested": [None]}))
    table.merge(frame, on="t.id = s.id").when_matched_update().execute()
    assert [row["nested"] for row in rows(table)] == [None] * 3


@pytest.mark.parametrize("wide", [pa.float32(), pa.float64()])
def test_half_floats_are_widened(tmp_path: Path, wide: pa.DataType) -> None:
    table = made(tmp_path, [("h", wide), ("hs", pa.list_(wide))])
    half = pa.array([1.5, None, -0.25], pa.float16())
    halves = pa.ListArray.from_arrays(pa.array([0, 1, 1, 3], pa.int32()), half)
    table.append(pa.table({"h": half, "hs": halves}))
    assert [row["h"] for row in rows(table)] == [1.5, None, -0.25]
    assert [row["hs"] for row in rows(table)] == [[1.5], [], [None, -0.25]]


def test_a_file_of_half_floats_is_read(tmp_path: Path) -> None:
    table = made(tmp_path, [("h", pa.float32())])
    table.append(pa.table({"h": pa.array([1.5], pa.float32())}))
    (file,) = (tmp_path / "table").rglob("*.parquet")
    pq.write_table(pa.table({"h": pa.array([1.5], pa.float16())}), file)
    table = DeltaTable(str(tmp_path / "table"))
    assert rows(table) == [{"h": 1.5}]


class TestIndexOfPandas:
    FRAME = pd.DataFrame({"id": [1, 2, 3], "v": ["a", "b", "c"]})
    SCHEMA = [("id", pa.int64()), ("v", pa.string())]

    @pytest.mark.parametrize("as_arrow", [True, False])
    def test_that_numbers_rows_is_left_out(
        self, tmp_path: Path, *, as_arrow: bool
    ) -> None:
        table = made(tmp_path, self.SCHEMA)
        some: Any = self.FRAME[self.FRAME.id != 2]
        some = pa.Table.from_pandas(some) if as_arrow else some
        table.append(some)
        table.append(some, merge_schema=True)
        table.overwrite(some, overwrite_schema=True)
        table.merge(some, on="t.id = s.id").when_matched_update().execute()
        assert rows(table) == [{"id": 1, "v": "a"}, {"id": 3, "v": "c"}]

    def test_with_a_name_is_a_column(self, tmp_path: Path) -> None:
        table = made(tmp_path, self.SCHEMA)
        table.append(self.FRAME.set_index("id"))
        counted = self.FRAME[["v"]].rename_axis("id")
        table.append(counted)
        assert [row["id"] for row in rows(table)] == [1, 2, 3, 0, 1, 2]

    def test_of_other_values_without_a_name_is_refused(self, tmp_path: Path) -> None:
        table = made(tmp_path, self.SCHEMA)
        frame = self.FRAME.set_axis(["x", "y", "z"])
        with pytest.raises(SchemaMismatchError, match="reset_index"):
            table.append(frame, merge_schema=True)

    def test_with_the_name_of_a_column_is_refused(self, tmp_path: Path) -> None:
        table = made(tmp_path, self.SCHEMA)
        with pytest.raises(SchemaMismatchError, match=r"'id' .* name of a column"):
            table.append(self.FRAME.set_index("id", drop=False))

    @pytest.mark.parametrize(
        "frame",
        [
            pd.DataFrame({"id": [1, "a"], "v": ["a", "b"]}),
            pd.DataFrame([[1, 2]], columns=["id", "id"]),
        ],
    )
    def test_of_values_without_an_arrow_type(
        self, tmp_path: Path, frame: pd.DataFrame
    ) -> None:
        table = made(tmp_path, self.SCHEMA)
        with pytest.raises(SchemaMismatchError, match="'id'"):
            table.append(frame)
