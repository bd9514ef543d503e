"""What people have who import the library: one name, values that show themselves."""

import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deltaweb
from deltaweb import DeltaTable
from deltaweb.delta.arguments import WrongTypeError
from deltaweb.delta.snapshot.dataset import DatasetInexactError
from deltaweb.version import VERSION
from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog

pytestmark = pytest.mark.slow

HEAVY = ("pyarrow", "django", "pyspark", "deltaweb.table")


@pytest.fixture
def orders(lake: Path) -> DeltaTable:
    return DeltaTable(lake / "orders")


class TestImport:
    def test_brings_nothing_before_it_is_asked(self) -> None:
        line = f"import deltaweb, sys; print([n for n in {HEAVY} if n in sys.modules])"
        done = subprocess.run(
            [sys.executable, "-c", line], capture_output=True, text=True, check=True
        )

        assert done.stdout.strip() == "[]"

    def test_knows_its_names_and_no_others(self) -> None:
        assert deltaweb.__version__ == VERSION
        assert {"DeltaTable", "__version__"} <= set(dir(deltaweb))
        with pytest.raises(AttributeError, match="no attribute 'DeltaTabel'"):
            deltaweb.DeltaTabel  # type: ignore[attr-defined]  # noqa: B018  # asking is the test


class TestRows:
    """The same rows, whoever takes them."""

    def test_go_to_other_libraries(self, orders: DeltaTable) -> None:
        rows = orders.read()
        frames = orders.to_pandas(), orders.to_polars()

        assert isinstance(frames[0], pd.DataFrame)
        assert isinstance(frames[1], pl.DataFrame)
        assert [len(frame) for frame in frames] == [rows.num_rows] * 2
        assert pa.table(orders.snapshot()) == rows

    def test_are_chosen_as_by_read(self, orders: DeltaTable) -> None:
        asked = (["order_id"], "country = 'DE'", 5)
        expected = orders.read(*asked)

        assert orders.to_pandas(*asked)["order_id"].tolist() == expected[0].to_pylist()
        assert orders.to_polars(*asked).to_arrow().num_rows == expected.num_rows

    def test_are_a_relation_of_duckdb(self, orders: DeltaTable) -> None:
        """In a process of its own: as it ends, DuckDB writes what it leaves behind."""
        code = (
            "import sys, duckdb; from deltaweb import DeltaTable\n"
            "orders = DeltaTable(sys.argv[1]); own = duckdb.connect()\n"
            "print(orders.to_duckdb().shape,"
            " orders.to_duckdb(['country'], limit=3, connection=own).shape,"
            " duckdb.sql('SELECT count(*) FROM orders').fetchall())"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, orders.root],
            capture_output=True,
            text=True,
            check=True,
        )

        rows = orders.read()
        assert done.stdout.strip() == f"{rows.shape} (3, 1) [({rows.num_rows},)]"

    @pytest.mark.parametrize("name", ["orders", "device_readings", "customers"])
    def test_are_those_of_a_dataset(self, lake: Path, name: str) -> None:
        table = DeltaTable(lake / name)
        dataset = table.to_pyarrow_dataset()
        key = [(dataset.schema.names[0], "ascending")]

        rows = table.read()
        assert [f.nullable for f in dataset.schema] == [f.nullable for f in rows.schema]
        # Parts of values may all be null there: pyarrow refuses a null struct else.
        wanted = rows.cast(dataset.schema).sort_by(key)
        assert dataset.to_table().sort_by(key) == wanted

    def test_a_dataset_leaves_out_the_files_of_other_partitions(self, orders):
        dataset = orders.to_pyarrow_dataset()
        wanted = pa.compute.field("country") == "DE"
        fragments = [*dataset.get_fragments(wanted)]

        assert 0 < len(fragments) < orders.snapshot().num_files


def with_vectors(table: DeltaTable) -> None:
    table.set_properties({"delta.enableDeletionVectors": "true"}, upgrade=True)
    table.append(pa.table({"id": pa.array([1, 2], pa.int32())}))
    table.delete("id = 1")


def with_mapped_columns(table: DeltaTable) -> None:
    table.set_properties({"delta.columnMapping.mode": "name"}, upgrade=True)


def with_a_widened_column(table: DeltaTable) -> None:
    table.set_properties({"delta.enableTypeWidening": "true"}, upgrade=True)
    table.widen_column("id", "BIGINT")


@pytest.mark.parametrize(
    ("make", "feature"),
    [
        (with_vectors, "deletion vectors"),
        (with_mapped_columns, "mapped columns"),
        (with_a_widened_column, "widened columns"),
    ],
    ids=["vectors", "mapped", "widened"],
)
def test_a_dataset_that_would_be_wrong_is_refused_by_the_name_of_what_it_lacks(
    tmp_path: Path, make: Callable[[DeltaTable], None], feature: str
) -> None:
    columns = pa.schema([("id", pa.int32())])
    table = DeltaTable.create(str(tmp_path / "t"), columns)
    make(table)

    with pytest.raises(DatasetInexactError) as caught:
        table.to_pyarrow_dataset()

    assert caught.value.features == (feature,)
    assert f"does not support {feature}" in caught.value.message


class TestShown:
    def test_a_table_is_named_and_not_read(self, tmp_path: Path) -> None:
        assert repr(DeltaTable(tmp_path)) == f"DeltaTable({str(tmp_path)!r})"
        assert "is not a Delta table" in DeltaTable(tmp_path)._repr_html_()

    def test_a_snapshot_says_its_numbers(self, orders: DeltaTable) -> None:
        snapshot = orders.snapshot()

        shown = repr(snapshot)

        assert shown.startswith(f"<{orders.root} at version {snapshot.version}: files ")
        assert "columns 10, partitioned by" in shown

    def test_a_notebook_shows_a_table_with_its_columns(self, orders: DeltaTable):
        for html in (orders._repr_html_(), orders.snapshot()._repr_html_()):
            assert "<th>partitioned by</th>" in html
            assert "<td>order_id</td><td>" in html

    def test_a_difference_counts_what_differs(self, orders: DeltaTable) -> None:
        shown = orders.compare(1, 2)

        assert repr(shown).startswith(f"<{orders.root} from version 1 to 2: columns ch")
        assert "<th>files added</th>" in shown._repr_html_()

    def test_a_history_is_a_table_of_its_commits(self, orders: DeltaTable) -> None:
        history = orders.history(2)

        lines = repr(history).splitlines()

        assert lines[0].split() == [
            "version",
            "timestamp",
            "operation",
            "user",
            "engine",
        ]
        assert [line.split()[0] for line in lines[1:]] == ["21", "20"]
        assert "<caption>2 commits</caption>" in history._repr_html_()
        assert history == list(history)

    def test_names_in_a_log_are_text_in_a_notebook(self, tmp_path: Path) -> None:
        info = {"commitInfo": {"timestamp": 1, "operation": "<script>\x1b[1m"}}
        log = LocalLog(tmp_path).start(info, add("a.parquet"))

        history = DeltaTable(log.location).history()

        assert "&lt;script&gt;" in history._repr_html_()
        assert "\x1b" not in repr(history) + history._repr_html_()


def table_of(*arguments: Any) -> DeltaTable:  # noqa: ANN401  # of wrong types
    return DeltaTable(*arguments)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda table: table.snapshot("2026-01-31"),
            "version takes a whole number, not str: '2026-01-31'.",
        ),
        (lambda table: table.snapshot(version=True), "a whole number, not bool"),
        (
            lambda table: table.snapshot(timestamp=date(2026, 1, 31)),
            "timestamp takes a datetime, or text",
        ),
        (lambda table: table.compare(1, "2"), "to_version takes a whole number"),
        (lambda table: table.history("5"), "limit takes a whole number, not str: '5'"),
        (lambda table: table.read("order_id"), "columns=['order_id']"),
        (lambda table: table.read([1]), "columns takes a list of column names"),
        (lambda table: table.read(limit=1.5), "limit takes a whole number, not float"),
        (lambda table: table.changes("1"), "start_version takes a whole number"),
        (lambda _: table_of(5), "location takes a path, or a URL as text, not int"),
        (lambda table: table_of(table.root, "key"), "storage_options takes a dict"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_argument_of_a_wrong_type_is_named(orders, call, said):
    with pytest.raises(WrongTypeError) as caught:
        call(orders)

    assert said in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_a_version_by_its_time_is_pointed_at_the_other_argument(orders: DeltaTable):
    with pytest.raises(WrongTypeError, match="timestamp="):
        orders.snapshot("2026-01-31")  # type: ignore[arg-type]  # that is the test
