"""What recipients get with pyiceberg, compared with the table itself."""

from pyiceberg.catalog import Catalog

from tests.functional.sharing_clients.conftest import Shared
from tests.functional.sharing_clients.odd_paths import ODD_VALUES

SharedTables = dict[str, Shared]


def test_lists_every_table_of_the_share(catalog: Catalog, tables: SharedTables) -> None:
    namespaces = catalog.list_namespaces()

    names = {name for space in namespaces for name in catalog.list_tables(space)}
    assert names == {(one.schema, one.name) for one in tables.values()}


def test_reads_files_whatever_their_paths_hold(catalog, tables):
    assert "odd_paths" in tables
    read = catalog.load_table(("data", "odd_paths")).scan().to_arrow()

    rows = {(row["id"], row["kind"]) for row in read.to_pylist()}
    assert rows == set(enumerate(ODD_VALUES))


def test_a_filter_leaves_out_files_and_no_row(catalog, tables):
    snapshot = tables["orders"].table.snapshot()
    expected = snapshot.read().sort_by("order_id")
    middle = expected["order_id"][expected.num_rows // 2].as_py()
    table = catalog.load_table(("data", "orders"))

    read = table.scan(row_filter=f"order_id < {middle}").to_arrow()

    assert read.num_rows == expected.num_rows // 2
    none = table.scan(row_filter=f"order_id > {expected['order_id'][-1].as_py()}")
    assert list(none.plan_files()) == []
