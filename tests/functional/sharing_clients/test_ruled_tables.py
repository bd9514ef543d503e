"""What two recipients get of a table of which each sees a part, and no byte of more."""

import io
import json
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import delta_sharing
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.ruled import new_staff
from tests.functional.sharing_clients.conftest import catalog_of
from tests.functional.sharing_clients.rows import of_frame, of_table
from tests.support import matrix
from tests.support.peers.duckdb_runner import SidecarDuckDB
from tests.support.peers.spark_iceberg import SidecarSpark
from tests.support.processes.installation import Installation

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:The behavior of DataFrame concatenation:FutureWarning"
    ),
    pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning"),
]

RECORDED = {CHANGE_DATA_FEED_PROPERTY: "true"}
SEEN = ["id", "region", "note"]
TABLE = "parts.hr.staff"
FORMATS = {
    "parquet": {},
    "delta": {"delta-sharing-capabilities": "responseformat=delta"},
}
SCRIPT = """
from apps.pages.actions import command_stamp
from apps.sharing.models import Share, SharedTable
from apps.sharing.shares.terms import add_table
from apps.tables.catalogue.registration import register_table
facts = {{"stamp": command_stamp()}}
table = register_table(name="hr.staff", location={place!r}, **facts)
share = Share.objects.get(name="parts")
add_table(share, table=table, schema="hr", name="staff", **facts)
SharedTable.objects.filter(share=share).update(
    condition="region = recipient.region", columns={columns!r}
)
"""


@dataclass(frozen=True)
class Reader:
    """A recipient, and what of the table it is to see."""

    profile: Path
    seen: pa.Table
    hidden: pa.Table

    @property
    def url(self) -> str:
        """What the client's functions take."""
        return f"{self.profile}#{TABLE}"

    def files(self, name: str) -> Iterator[bytes]:
        """Every file that is served to it in a format, deletion vectors apart."""
        for line in self.lines(name)[2:]:
            file = json.loads(line)["file"]
            action = file.get("deltaSingleAction", {}).get("add", {})
            with urllib.request.urlopen(file.get("url") or action["path"]) as answer:  # noqa: S310 (our own)
                yield answer.read()

    def lines(self, name: str) -> list[bytes]:
        """The lines of its query in a format."""
        profile = json.loads(self.profile.read_text())
        share, schema, table = TABLE.split(".")
        path = f"shares/{share}/schemas/{schema}/tables/{table}/query"
        request = urllib.request.Request(  # noqa: S310 (our own)
            f"{profile['endpoint'].rstrip('/')}/{path}",
            data=b"{}",
            headers={
                "Authorization": f"Bearer {profile['bearerToken']}",
                "Content-Type": "application/json",
                **FORMATS[name],
            },
        )
        with urllib.request.urlopen(request) as answer:  # noqa: S310 (as above)
            lines: list[bytes] = answer.read().split(b"\n")[:-1]
        return lines


@pytest.fixture(scope="module")
def readers(server: Installation) -> dict[str, Reader]:
    """Two recipients of a share, each of one region."""
    place = server.home / "staff"
    rows = new_staff(place, properties=RECORDED).snapshot().read()
    server.command("share", "create", "parts")
    script = SCRIPT.format(place=str(place), columns=SEEN)
    server.manage("shell", "--verbosity", "0", "--command", script)
    found = {}
    for region in ("EU", "US"):
        profile = server.home / f"{region}.share"
        server.command(
            *("recipient", "create", f"acme-{region}", "--share", "parts"),
            *("--property", f"region={region}", "--expires", "7d"),
            *("--profile", str(profile)),
        )
        inside = pc.equal(rows["region"], region)
        found[region] = Reader(
            profile, rows.filter(inside), rows.filter(pc.invert(inside))
        )
    server.command("share", "prepare", "parts", "--prove")
    return found


@matrix("region, use_delta_format", product(["EU", "US"], [None, True, False]))
def test_the_client_reads_what_the_rule_selects(readers, region, *, use_delta_format):
    reader = readers[region]

    frame = delta_sharing.load_as_pandas(reader.url, use_delta_format=use_delta_format)

    assert list(frame.columns) == SEEN
    assert of_frame(frame) == of_table(reader.seen.select(SEEN))


@pytest.mark.parametrize("region", ["EU", "US"])
def test_pyiceberg_reads_what_the_rule_selects(readers, region):
    reader = readers[region]
    table = catalog_of(reader.profile, "parts").load_table(("hr", "staff"))

    found = table.scan().to_arrow()

    assert found.column_names == SEEN
    assert of_table(found) == of_table(reader.seen.select(SEEN))


@pytest.mark.exhaustive  # pyiceberg reads it by the same door in every run
def test_duckdb_reads_what_the_rule_selects(readers, tmp_path):
    reader = readers["EU"]
    with closing(SidecarDuckDB(tmp_path)) as duckdb:
        duckdb.attach("parts", json.loads(reader.profile.read_text()))
        code = "import duckdb\nfound = duckdb.sql('FROM parts.hr.staff')"
        found = duckdb.rows(code, "found")

    assert found.column_names == SEEN
    assert of_table(found) == of_table(reader.seen.select(SEEN))


@pytest.mark.exhaustive  # it takes as long to start as all others together
def test_spark_reads_what_the_rule_selects(readers, tmp_path):
    reader = readers["EU"]
    profile = json.loads(reader.profile.read_text())
    catalog = {"uri": profile["icebergEndpoint"], "token": profile["bearerToken"]}
    with closing(
        SidecarSpark(tmp_path, "parts", {**catalog, "warehouse": "parts"})
    ) as spark:
        code = "from pyspark.sql import SparkSession\n"
        code += "found = SparkSession.active().sql('FROM parts.hr.staff SELECT *')"
        found = spark.rows(code, "found")

    assert found.column_names == SEEN
    assert of_table(found) == of_table(reader.seen.select(SEEN))


@pytest.mark.parametrize("region", ["EU", "US"])
@pytest.mark.parametrize("name", FORMATS)
def test_no_file_that_is_served_holds_a_hidden_value(readers, region, name):
    reader = readers[region]
    hidden = _texts(reader.hidden.to_pydict()) | _texts(
        {"salary": reader.seen["salary"].to_pylist()}
    )

    files = [_held(data) for data in reader.files(name)]

    assert sum(file.num_rows for file, _ in files) == reader.seen.num_rows
    for file, texts in files:
        assert file.column_names == SEEN
        assert texts & hidden == set()


@pytest.mark.parametrize("use_delta_format", [True, False])
def test_the_client_reads_changes_by_the_same_rule(
    server: Installation, readers: dict[str, Reader], *, use_delta_format: bool
) -> None:
    table = DeltaTable(server.home / "staff")
    first = table.latest_version() + 1
    table.update({"region": "'US'"}, f"id = {first - 4}")
    table.update({"salary": "salary + 1"}, f"id = {first - 4}")
    server.command("share", "prepare", "parts")

    found = {
        region: delta_sharing.load_table_changes_as_pandas(
            reader.url, starting_version=first, use_delta_format=use_delta_format
        )
        for region, reader in readers.items()
    }

    for region, kind in (("EU", "delete"), ("US", "insert")):
        (row,) = found[region].to_dict("records")
        assert (row["id"], row["_change_type"]) == (first - 4, kind)
        assert (row["region"], row["_commit_version"]) == (region, first)
        assert "salary" not in row


def _held(data: bytes) -> tuple[pa.Table, set[str]]:
    """A file's rows; every text that it holds in pages, dictionaries and its footer."""
    opened = pq.ParquetFile(io.BytesIO(data))
    footer = opened.metadata
    table = pq.read_table(io.BytesIO(data), read_dictionary=opened.schema_arrow.names)
    texts = _texts(opened.read().to_pydict())
    for column in table.columns:
        for chunk in column.chunks:
            if isinstance(chunk, pa.DictionaryArray):
                texts |= _texts({"": chunk.dictionary.to_pylist()})
    for group in range(footer.num_row_groups):
        for place in range(footer.num_columns):
            statistics = footer.row_group(group).column(place).statistics
            if statistics is not None and statistics.has_min_max:
                texts |= _texts({"": [statistics.min, statistics.max]})
    keys = footer.metadata or {}
    return opened.read(), texts | {
        text.decode("latin-1") for one in keys.items() for text in one
    }


def _texts(columns: dict[str, list[Any]]) -> set[str]:
    return {str(value) for values in columns.values() for value in values}
