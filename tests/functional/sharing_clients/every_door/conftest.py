"""Every recorded table in a share, as stored and plain, and what reads of it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.table import Table as IcebergTable

from deltaweb.table import DeltaTable
from tests.functional.sharing_clients.conftest import (
    catalog_of,
    new_profile,
    plain,
    put_into_share,
)
from tests.functional.sharing_clients.every_door.faults import VERSIONS
from tests.support.golden.golden_tables import golden_folder, golden_table
from tests.support.peers.daft_runner import SidecarDaft
from tests.support.peers.duckdb_runner import SidecarDuckDB
from tests.support.peers.spark_iceberg import SidecarSpark
from tests.support.processes.installation import Installation

SHARE = "doors"
PLAIN_SHARE = "plaindoors"
SESSION = "from pyspark.sql import SparkSession"


@dataclass(frozen=True)
class Doors:
    """The recorded tables, shared.

    Attributes:
        share: The share that has them.
        profile: The profile file of a recipient.
        catalog: The share as an Iceberg catalogue.
        duckdb: Reads the same catalogue.
        spark: As DuckDB; it is started by who asks first.
    """

    share: str
    profile: Path
    catalog: Catalog
    duckdb: SidecarDuckDB
    daft: SidecarDaft
    spark: Callable[[], SidecarSpark]

    def url(self, name: str) -> str:
        """What the functions of the sharing client take."""
        return f"{self.profile}#{self.share}.data.{plain(name)}"

    @cache  # noqa: B019 (there is one, to the end)
    def iceberg_table(self, name: str) -> IcebergTable:
        """The table as the catalogue has it."""
        return self.catalog.load_table(("data", plain(name)))

    def snapshot(self, table: IcebergTable, version: int | None) -> int | None:
        """The snapshot that is a version."""
        found = {
            one.summary["delta.version"]: one.snapshot_id
            for one in table.metadata.snapshots
            if one.summary
        }
        return None if version is None else found[str(version)]

    def in_duckdb(self, name: str, version: int | None) -> pa.Table:
        """The rows that DuckDB reads."""
        at = ""
        if version is not None:
            number = self.snapshot(self.iceberg_table(name), version)
            at = f" AT (VERSION => {number})"
        text = f'FROM {self.share}.data."{plain(name)}"{at}'
        code = f"import duckdb\nfound = duckdb.sql({text!r})"
        return self.duckdb.rows(code, "found")

    def in_daft(self, name: str, version: int | None) -> pa.Table:
        """The rows that Daft reads."""
        table = self.iceberg_table(name)
        number = self.snapshot(table, version)
        said = json.loads(self.profile.read_text())
        return self.daft.read(self.share, said, plain(name), number)

    def in_spark(self, name: str, version: int | None) -> pa.Table:
        """The rows that Spark reads."""
        at = ""
        if version is not None:
            number = self.snapshot(self.iceberg_table(name), version)
            at = f" VERSION AS OF {number}"
        text = f"FROM {self.share}.data.`{plain(name)}`{at} SELECT *"
        code = f"{SESSION}\nfound = SparkSession.active().sql({text!r})"
        return self.spark().rows(code, "found")


def table_of(name: str) -> DeltaTable:
    """A recorded table itself."""
    return golden_table(name)


@pytest.fixture(scope="module", autouse=True)
def _old_times() -> Iterator[None]:
    """Let pyiceberg read times of INT96, which it refuses else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYICEBERG_DOWNCAST_NS_TIMESTAMP_TO_US_ON_WRITE", "true")
        yield


@pytest.fixture(scope="session")
def doors(
    request: pytest.FixtureRequest,
    server: Installation,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Doors]:
    """Every recorded table that is asked for in one share."""
    names = _asked_for(request, "doors")
    server.command("share", "create", SHARE)
    places = {plain(name): golden_folder(name) for name in names}
    indexed = [plain(name) for name in VERSIONS if name in names]
    put_into_share(server, SHARE, places, space=SHARE, indexed=indexed)
    with _opened(server, SHARE, tmp_path_factory) as opened:
        yield opened


@pytest.fixture(scope="session")
def plain_doors(
    request: pytest.FixtureRequest,
    server: Installation,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Doors]:
    """Every recorded table that is asked for in a share of plain files."""
    names = _asked_for(request, "plain_doors")
    server.command("share", "create", PLAIN_SHARE)
    places = {plain(name): golden_folder(name) for name in names}
    put_into_share(server, PLAIN_SHARE, places, space=PLAIN_SHARE)
    server.command("share", "plain", PLAIN_SHARE)
    with _opened(server, PLAIN_SHARE, tmp_path_factory) as opened:
        server.command("share", "prepare", PLAIN_SHARE)  # for its recipient
        yield opened


def _asked_for(request: pytest.FixtureRequest, fixture: str) -> list[str]:
    names = {
        str(item.callspec.params["name"])
        for item in request.session.items
        if isinstance(item, pytest.Function) and fixture in item.fixturenames
    }
    return sorted(names)


@contextmanager
def _opened(
    server: Installation, share: str, folders: pytest.TempPathFactory
) -> Iterator[Doors]:
    profile = new_profile(server, f"{share}-keeper", share)
    folder = folders.mktemp("duckdb")
    said = json.loads(profile.read_text())
    with ExitStack() as stack:
        duckdb = stack.enter_context(closing(SidecarDuckDB(folder)))
        duckdb.attach(share, said)
        daft = stack.enter_context(closing(SidecarDaft(folder)))

        @cache
        def spark() -> SidecarSpark:
            place = folders.mktemp("spark")
            catalog = {"uri": said["icebergEndpoint"], "token": said["bearerToken"]}
            started = SidecarSpark(place, share, {**catalog, "warehouse": share})
            return stack.enter_context(closing(started))

        yield Doors(share, profile, catalog_of(profile, share), duckdb, daft, spark)
