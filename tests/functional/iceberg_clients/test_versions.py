"""Older versions as snapshots, read by pyiceberg."""

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.table import Table

from tests.functional.sharing_clients.conftest import Shared
from tests.functional.sharing_clients.rows import of_table
from tests.support.processes.installation import ROOT, Installation

SharedTables = dict[str, Shared]
INDEX = """
import sys
sys.path.insert(0, {root!r})
from tests.support.index.indexed_tables import index_table
from deltaweb.web.tables.models import Table
for table in Table.objects.filter(name__in=["orders", "marked"], namespace="shared"):
    index_table(table)
"""


@pytest.fixture(scope="module")
def indexed(server: Installation, tables: SharedTables) -> SharedTables:
    """The tables, of which some are indexed: our rows know their versions."""
    script = INDEX.format(root=str(ROOT))
    server.manage("shell", "--verbosity", "0", "--command", script)
    return tables


def snapshots(table: Table) -> dict[int, int]:
    """The snapshots of a table by the versions that they are."""
    return {
        int(one.summary["delta.version"] or 0): one.snapshot_id
        for one in table.metadata.snapshots
        if one.summary
    }


@pytest.mark.parametrize("version", [0, 1, 5])
def test_reads_an_older_version(
    catalog: Catalog, indexed: SharedTables, version: int
) -> None:
    shared = indexed["orders"]
    table = catalog.load_table((shared.schema, shared.name))

    read = table.scan(snapshot_id=snapshots(table)[version]).to_arrow()

    assert of_table(read) == of_table(shared.table.snapshot(version).read())


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_reads_versions_with_deletion_vectors_and_without(
    catalog: Catalog, indexed: SharedTables, version: int
) -> None:
    shared = indexed["marked"]
    table = catalog.load_table((shared.schema, shared.name))

    read = table.scan(snapshot_id=snapshots(table)[version]).to_arrow()

    assert of_table(read) == of_table(shared.table.snapshot(version).read())


def test_the_newest_version_is_the_current_one(
    catalog: Catalog, indexed: SharedTables
) -> None:
    newest = indexed["orders"].table.latest_version()
    table = catalog.load_table(("data", "orders"))

    known = snapshots(table)
    assert max(known) == newest
    assert table.metadata.current_snapshot_id == known[newest]
