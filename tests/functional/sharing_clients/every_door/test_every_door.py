"""Recorded tables by every door: each client reads the very rows of the table.

What one does not read is in `faults`, with whose fault that is. A sound part of the
cells is read in every run (`cells`); `pytest -m exhaustive` reads the others.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

import delta_sharing
import deltalake
import polars as pl
import pyarrow as pa
import pytest
from pyiceberg.table import Table as IcebergTable

from deltaweb.delta.errors import DeltaError
from tests.functional.sharing_clients.conftest import plain
from tests.functional.sharing_clients.every_door.cells import (
    CELLS,
    cells_of_every_run,
)
from tests.functional.sharing_clients.every_door.conftest import (
    Doors,
    table_of,
)
from tests.functional.sharing_clients.every_door.faults import (
    FAULTS,
    UNREADABLE,
    VERSIONS,
    Client,
)
from tests.functional.sharing_clients.rows import (
    Rows,
    of_frame,
    of_rows,
    of_table,
)
from tests.support import matrix
from tests.support.golden.golden_tables import NAMES, golden_folder
from tests.support.golden.recorded import is_own, outside
from tests.support.peers.power_bi import PowerBI

pytestmark = [
    # Clients speak of their own libraries, and leave folders to the garbage collector.
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning"),
]
Read = Callable[[Doors, str, int | None], Rows]
"""Reads the rows of a table at a version, the newest for None."""


def by_pyiceberg(doors: Doors, name: str, version: int | None) -> Rows:
    table = doors.iceberg_table(name)
    return of_table(table.scan(snapshot_id=doors.snapshot(table, version)).to_arrow())


def by_ids(doors: Doors, name: str, version: int | None) -> Rows:
    """Read by field ids alone, as clients do that know no name mapping."""
    table = doors.iceberg_table(name)
    metadata = table.metadata.model_copy(update={"properties": {}})
    table = IcebergTable(
        table.name(), metadata, table.metadata_location, table.io, table.catalog
    )
    return of_table(table.scan(snapshot_id=doors.snapshot(table, version)).to_arrow())


def by_polars(doors: Doors, name: str, version: int | None) -> Rows:
    table = doors.iceberg_table(name)
    keys = table.io.properties
    frame = pl.scan_iceberg(
        table,
        snapshot_id=doors.snapshot(table, version),
        reader_override="native",
        storage_options={
            "aws_endpoint_url": keys["s3.endpoint"],
            "aws_access_key_id": keys["s3.access-key-id"],
            "aws_secret_access_key": keys["s3.secret-access-key"],
            "aws_session_token": keys["s3.session-token"],
            "aws_region": keys["s3.region"],
            "aws_allow_http": "true",
        },
    )
    return of_table(frame.collect().to_arrow())


def by_daft(doors: Doors, name: str, version: int | None) -> Rows:
    return of_table(doors.in_daft(name, version))


def by_duckdb(doors: Doors, name: str, version: int | None) -> Rows:
    return of_table(doors.in_duckdb(name, version))


def by_spark(doors: Doors, name: str, version: int | None) -> Rows:
    return of_table(doors.in_spark(name, version))


def in_parquet_format(doors: Doors, name: str, version: int | None) -> Rows:
    return of_frame(
        delta_sharing.load_as_pandas(
            doors.url(name), version=version, use_delta_format=False
        )
    )


def in_delta_format(doors: Doors, name: str, version: int | None) -> Rows:
    return of_frame(
        delta_sharing.load_as_pandas(
            doors.url(name), version=version, use_delta_format=True
        )
    )


def by_power_bi(doors: Doors, name: str, version: int | None) -> Rows:
    assert version is None
    return of_rows(PowerBI(doors.profile).rows(doors.share, "data", plain(name)))


def by_deltalake(_doors: Doors, name: str, version: int | None) -> Rows:
    table = deltalake.DeltaTable(str(golden_folder(name)), version=version)
    return of_table(pa.table(table.scan().read_all()))


READ: Final[Mapping[Client, Read]] = {
    Client.PYICEBERG: by_pyiceberg,
    Client.BY_IDS: by_ids,
    Client.POLARS: by_polars,
    Client.DAFT: by_daft,
    Client.DUCKDB: by_duckdb,
    Client.SPARK: by_spark,
    Client.PARQUET: in_parquet_format,
    Client.DELTA: in_delta_format,
    Client.POWER_BI: by_power_bi,
    Client.DELTALAKE: by_deltalake,
}


@cache  # other clients read the same table
def expected(name: str, version: int | None) -> Rows:
    return of_table(table_of(name).snapshot(version).read())


@matrix("client, name", CELLS, often=cells_of_every_run())
def test_a_client_reads_the_rows_of_the_table(doors, client, name):
    read, fault = READ[client], FAULTS.get((client, name))
    if name in UNREADABLE:
        with pytest.raises(DeltaError) as refused:
            table_of(name).snapshot().read()
        assert refused.value.code == UNREADABLE[name]
        with pytest.raises(Exception, match=r"\S"):
            read(doors, name, None)
    elif fault is None:
        older = () if client is Client.POWER_BI else VERSIONS.get(name, ())
        for version in (*older, None):
            assert read(doors, name, version) == expected(name, version), version
    elif fault.shown is None:
        rows = read(doors, name, None)
        assert rows != expected(name, None), fault
    else:
        with pytest.raises(Exception, match=re.compile(fault.shown)):
            read(doors, name, None)


def test_every_fault_is_one_of_a_recorded_table() -> None:
    def may_be_here(name: str) -> bool:
        return is_own(name) or outside("DELTAWEB_GOLDEN") is not None

    assert {cell for cell in FAULTS if may_be_here(cell[1])} <= set(CELLS)
    assert {name for name in (*UNREADABLE, *VERSIONS) if may_be_here(name)} <= {*NAMES}
