"""Older versions as snapshots, read by pyiceberg."""

from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.table import Table

from deltaweb.table import DeltaTable
from tests.functional.sharing_clients.conftest import (
    Shared,
    catalog_of,
    new_profile,
    put_into_share,
)
from tests.functional.sharing_clients.rows import of_table
from tests.support.processes.installation import Installation

SHARE = "snapshots"
NAMES = ["orders", "marked"]


@pytest.fixture(scope="module")
def indexed(tables: dict[str, Shared]) -> dict[str, DeltaTable]:
    """Tables that are in the catalogue once more, indexed: rows know their versions."""
    return {name: tables[name].table for name in NAMES}


@pytest.fixture(scope="module")
def catalog(server: Installation, indexed: dict[str, DeltaTable]) -> Catalog:
    """Their share."""
    server.command("share", "create", SHARE)
    places = {name: Path(table.store.root) for name, table in indexed.items()}
    put_into_share(server, SHARE, places, space=SHARE, indexed=NAMES)
    return catalog_of(new_profile(server, "photographer", SHARE), SHARE)


def snapshots(table: Table) -> dict[int, int]:
    """The snapshots of a table by the versions that they are."""
    return {
        int(one.summary["delta.version"] or 0): one.snapshot_id
        for one in table.metadata.snapshots
        if one.summary
    }


@pytest.mark.parametrize("version", [0, 2])
def test_reads_an_older_version(catalog, indexed, version):
    table = catalog.load_table(("data", "orders"))

    read = table.scan(snapshot_id=snapshots(table)[version]).to_arrow()

    assert of_table(read) == of_table(indexed["orders"].snapshot(version).read())


@pytest.mark.parametrize("version", [1, 2, 3])
def test_reads_versions_with_deletion_vectors_and_without(catalog, indexed, version):
    table = catalog.load_table(("data", "marked"))

    read = table.scan(snapshot_id=snapshots(table)[version]).to_arrow()

    assert of_table(read) == of_table(indexed["marked"].snapshot(version).read())


def test_the_newest_version_is_the_current_one(catalog, indexed):
    newest = indexed["orders"].latest_version()
    table = catalog.load_table(("data", "orders"))

    known = snapshots(table)
    assert max(known) == newest
    assert table.metadata.current_snapshot_id == known[newest]
