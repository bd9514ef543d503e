"""What recipients get with pyiceberg, compared with the table itself."""

import pytest
from pyiceberg.catalog import Catalog

from tests.functional.sharing_clients.conftest import GOLDEN, SAMPLES, Shared, plain
from tests.functional.sharing_clients.odd_paths import ODD_VALUES
from tests.functional.sharing_clients.rows import of_table

SharedTables = dict[str, Shared]
RECORDED = [
    "deltars__delta-0.8.0-null-partition",
    "deltars__delta-0.8.0-special-partition",
    "derived__column-names-odd",
    "derived__partition-all-types",
    "derived__partition-spellings",
    "derived__space-in-path",
    "golden__parquet-decimal-type",
    "deltars__table_with_deletion_logs",
    "golden__dv-partitioned-with-checkpoint",
    "golden__dv-with-columnmapping",
    "golden__data-reader-timestamp_ntz-name-mode",
    "kernel__data-reader-partition-values-column-mapping-name",
    "kernel__basic-dv-with-checkpoint",
    "spark__table-with-dv-small",
]


def test_lists_every_table_of_the_share(catalog: Catalog, tables: SharedTables) -> None:
    namespaces = catalog.list_namespaces()

    names = {name for space in namespaces for name in catalog.list_tables(space)}
    assert names == {(one.schema, one.name) for one in tables.values()}


@pytest.mark.parametrize("name", SAMPLES)
def test_reads_the_rows_that_the_table_holds(
    catalog: Catalog, tables: SharedTables, name: str
) -> None:
    shared = tables[name]
    expected = shared.table.snapshot()

    table = catalog.load_table((shared.schema, shared.name))
    read = table.scan().to_arrow()

    assert read.column_names == list(expected.schema.names)
    assert of_table(read) == of_table(expected.read())


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="DELTAWEB_GOLDEN names no folder")
@pytest.mark.parametrize("name", RECORDED)
def test_reads_tables_that_others_wrote(
    catalog: Catalog, tables: SharedTables, name: str
) -> None:
    shared = tables[plain(name)]

    read = catalog.load_table((shared.schema, shared.name)).scan().to_arrow()

    assert of_table(read) == of_table(shared.table.snapshot().read())


def test_reads_files_whatever_their_paths_hold(
    catalog: Catalog, tables: SharedTables
) -> None:
    assert "odd_paths" in tables
    read = catalog.load_table(("data", "odd_paths")).scan().to_arrow()

    rows = {(row["id"], row["kind"]) for row in read.to_pylist()}
    assert rows == set(enumerate(ODD_VALUES))


def test_a_filter_leaves_out_files_and_no_row(
    catalog: Catalog, tables: SharedTables
) -> None:
    snapshot = tables["orders"].table.snapshot()
    expected = snapshot.read().sort_by("order_id")
    middle = expected["order_id"][expected.num_rows // 2].as_py()
    table = catalog.load_table(("data", "orders"))

    read = table.scan(row_filter=f"order_id < {middle}").to_arrow()

    assert read.num_rows == expected.num_rows // 2
    none = table.scan(row_filter=f"order_id > {expected['order_id'][-1].as_py()}")
    assert list(none.plan_files()) == []
