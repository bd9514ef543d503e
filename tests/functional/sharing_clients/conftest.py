"""A real server, and a recipient with a profile file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog

from deltaweb.table import DeltaTable
from tests.functional.sharing_clients.fed import write_feed
from tests.functional.sharing_clients.instants import write_instants
from tests.functional.sharing_clients.marked import write_marked
from tests.functional.sharing_clients.odd_paths import write_odd_paths
from tests.support.golden.golden_tables import FOLDERS, expected_of, golden_folder
from tests.support.processes.installation import ROOT, Installation, furnish, serving

NO_WORKER = 503
SHARE = "lab"
SMALL = ["device_readings", "customers", "returns"]
SAMPLES = ["orders", *SMALL]
"""Tables of the samples; orders has so many files that a client takes ten seconds."""
RECORDED = [
    name
    for name in (
        "delta-spark__decimals",
        "delta-spark__nested",
        "delta-spark__null-structs",
        "delta-spark__overwritten",
        "delta-spark__partitions-odd",
        "delta-spark__schema-evolved",
        "deltalake__evolved",
        "deltalake__partitions-checkpoint",
        "deltars__delta-0.8.0-null-partition",
        "deltars__delta-0.8.0-special-partition",
        "derived__column-names-odd",
        "derived__partition-all-types",
        "derived__partition-spellings",
        "derived__space-in-path",
        "golden__data-reader-array-primitives",
        "golden__data-reader-escaped-chars",
        "golden__data-reader-partition-values",
        "golden__hive_deltatbl-special-chars-in-partition-column",
        "golden__parquet-decimal-type",
        "golden__time-travel-schema-changes-b",
    )
    if name in FOLDERS
]
IN_DELTA_FORMAT = [
    name
    for name in (
        "delta-spark__local-times",
        "delta-spark__mapped-by-id",
        "delta-spark__mapped-by-name",
        "delta-spark__mapped-exchanged",
        "delta-spark__partition-types",
        "delta-spark__vectors",
        "delta-spark__vectors-mapped",
        "deltalake__types",
        "deltars__table_with_deletion_logs",
        "golden__dv-partitioned-with-checkpoint",
        "golden__dv-with-columnmapping",
        "golden__data-reader-timestamp_ntz-name-mode",
        "golden__table-with-columnmapping-mode-id",
        "golden__table-with-columnmapping-mode-name",
        "kernel__data-reader-partition-values-column-mapping-name",
        "kernel__basic-dv-with-checkpoint",
        "kernelrs__parquet_row_group_skipping",
        "spark__table-with-dv-small",
    )
    if name in FOLDERS
]
"""Recorded tables whose files are not their rows to a client of the other format."""
WITH_FEED = {
    name: start
    for name, start in {
        "delta-spark__feed": 0,
        "delta-spark__feed-later": 2,
        "delta-spark__feed-mapped-vectors": 6,
        "deltalake__feed": 0,
        "deltars__checkpoint-cdf-table": 3,
        "kernelrs__cdf-column-mapping-id-mode": 1,
        "kernelrs__cdf-table": 0,
        "kernelrs__cdf-table-data-change": 0,
        "kernelrs__cdf-table-delete-conditional-all-rows": 0,
        "kernelrs__cdf-table-partitioned": 0,
        "kernelrs__cdf-table-with-cdc-and-dvs": 0,
    }.items()
    if name in FOLDERS
}
"""Recorded tables with a change data feed, and from which version on."""
SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from apps.pages.actions import command_stamp
from apps.sharing.models import Share
from apps.sharing.shares.terms import add_table
from apps.tables.catalogue.registration import register_table
from tests.support.index.indexed_tables import index_table
facts = {{"stamp": command_stamp()}}
share = Share.objects.get(name={share!r})
for name, place in {places!r}.items():
    table = register_table(name={space!r} + "." + name, location=place, **facts)
    add_table(share, table=table, schema="data", name=name, **facts)
    if name in {indexed!r}:
        index_table(table)
"""


def features_of(name: str) -> list[str]:
    """What a recorded table has, as its record says."""
    found: list[str] = expected_of(name)["features"]
    return found


def plain(name: str) -> str:
    """The name of a recorded table as one that the protocol takes."""
    return name.replace(".", "_").replace("-", "_")


def put_into_share(
    server: Installation,
    share: str,
    places: Mapping[str, Path],
    *,
    space: str,
    indexed: Sequence[str] = (),
) -> None:
    """Register tables in a namespace, put them into a share, and index some."""
    script = SCRIPT.format(
        root=str(ROOT),
        share=share,
        space=space,
        places={name: str(place) for name, place in places.items()},
        indexed=[*indexed],
    )
    server.manage("shell", "--verbosity", "0", "--command", script)


def new_profile(server: Installation, recipient: str, share: str) -> Path:
    """Make a recipient who may read a share; return its profile file."""
    path = server.home / f"{recipient}.share"
    server.command(
        *("recipient", "create", recipient, "--share", share),
        *("--expires", "7d", "--profile", str(path)),
    )
    return path


def catalog_of(profile: Path, share: str) -> Catalog:
    """A share as pyiceberg's catalogue."""
    text = json.loads(profile.read_text())
    return RestCatalog(
        "lab",
        uri=text["icebergEndpoint"],
        token=text["bearerToken"],
        warehouse=share,
    )


@dataclass(frozen=True)
class Shared:
    """A table as a recipient addresses it, beside the table itself."""

    profile: Path
    schema: str
    name: str
    table: DeltaTable

    @property
    def url(self) -> str:
        """What the client's functions take."""
        return f"{self.profile}#{SHARE}.{self.schema}.{self.name}"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, lake: Path):
    """`deltaweb serve` with the sample tables, and without a worker."""
    home = tmp_path_factory.mktemp("home")
    furnish(home, lake)
    # One process keeps what it has read for the next request.
    with serving(
        home, ready=NO_WORKER, WORKERS="0", DELTAWEB_WEB_PROCESSES="1"
    ) as installation:
        installation.command("share", "create", SHARE)
        yield installation


@pytest.fixture(scope="session")
def profile(server: Installation) -> Path:
    """The profile file of a recipient who may read the share."""
    return new_profile(server, "globex", SHARE)


@pytest.fixture(scope="session")
def tables(server: Installation, profile: Path) -> dict[str, Shared]:
    """Every table of these tests by its name, registered and put into the share."""
    places = {name: server.home / "samples" / name for name in SAMPLES}
    places["odd_paths"] = server.home / "odd paths %41"
    write_odd_paths(places["odd_paths"])
    places["fed"] = server.home / "fed"
    write_feed(places["fed"])
    places["instants"] = server.home / "instants"
    write_instants(places["instants"])
    places["marked"] = server.home / "marked"
    write_marked(places["marked"])
    for name in [*RECORDED, *IN_DELTA_FORMAT, *WITH_FEED]:
        places[plain(name)] = golden_folder(name)
    put_into_share(server, SHARE, places, space="shared")
    return {
        name: Shared(profile, "data", name, DeltaTable(str(place)))
        for name, place in places.items()
    }
