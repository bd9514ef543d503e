"""What recipients get with the delta-sharing client, compared with the table itself."""

import json
from datetime import timedelta
from itertools import product
from pathlib import Path

import delta_sharing
import pyarrow.compute as pc
import pytest
from requests import HTTPError

from tests.functional.sharing_clients.conftest import (
    SHARE,
    SMALL,
    Shared,
    new_profile,
)
from tests.functional.sharing_clients.odd_paths import ODD_VALUES
from tests.functional.sharing_clients.rows import of_frame, of_table
from tests.support import matrix
from tests.support.processes.installation import Installation, rows, wait_for

pytestmark = [
    # The client joins the frames of files by a way that pandas will give up,
    pytest.mark.filterwarnings(
        "ignore:The behavior of DataFrame concatenation:FutureWarning"
    ),
    # and leaves the folder of a log that it has made to the garbage collector.
    pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning"),
]

SharedTables = dict[str, Shared]


def test_lists_every_table_of_the_share(profile: Path, tables: SharedTables) -> None:
    listed = delta_sharing.SharingClient(str(profile)).list_all_tables()

    names = {(table.share, table.schema, table.name) for table in listed}
    assert names == {(SHARE, one.schema, one.name) for one in tables.values()}


@matrix("name, use_delta_format", product(SMALL, (None, True)))
def test_reads_the_rows_that_the_table_holds(tables, name, *, use_delta_format) -> None:
    shared = tables[name]
    expected = shared.table.snapshot()

    frame = delta_sharing.load_as_pandas(shared.url, use_delta_format=use_delta_format)

    assert list(frame.columns) == list(expected.schema.names)
    assert of_frame(frame) == of_table(expected.read())


def test_reads_files_whatever_their_paths_hold(tables: SharedTables) -> None:
    frame = delta_sharing.load_as_pandas(tables["odd_paths"].url)

    read = {(int(row.id), row.kind) for row in frame.itertuples()}
    assert read == set(enumerate(ODD_VALUES))


def test_a_month_that_is_used_up_ends_a_query_at_once(
    server: Installation, tables: SharedTables
) -> None:
    assert "customers" in tables
    mine = f"{new_profile(server, 'soylent', SHARE)}#{SHARE}.data.customers"
    server.command("recipient", "limit", "soylent", "--hard", "0")
    query = (
        "SELECT status FROM audit_auditevent"
        " WHERE recipient = 'soylent' AND action = 'table.query'"
    )

    with pytest.raises(HTTPError, match="used up"):
        delta_sharing.load_as_pandas(mine)

    assert wait_for(lambda: bool(rows(server.home, query)))
    assert [one["status"] for one in rows(server.home, query)] == [403]


@pytest.mark.parametrize("use_delta_format", [False, True])
def test_reads_instants_of_partitions_whatever_their_spelling(
    tables: SharedTables, *, use_delta_format: bool
) -> None:
    shared = tables["instants"]

    frame = delta_sharing.load_as_pandas(shared.url, use_delta_format=use_delta_format)

    assert of_frame(frame) == of_table(shared.table.snapshot().read())
    assert str(frame["ts"].dt.tz) == "UTC"


@pytest.mark.parametrize("limit", [0, 7])
def test_reads_no_more_rows_than_asked_for(tables: SharedTables, limit: int) -> None:
    frame = delta_sharing.load_as_pandas(tables["orders"].url, limit=limit)

    assert len(frame) == limit


@pytest.mark.parametrize("version", [None, 1, 2])
def test_reads_every_version_of_a_table_whose_newest_marks_no_rows(tables, version):
    shared = tables["marked"]
    newest = shared.table.snapshot().files["deletion_vector"]
    assert newest.null_count == len(newest)

    frame = delta_sharing.load_as_pandas(shared.url, version=version)

    assert of_frame(frame) == of_table(shared.table.snapshot(version).read())


@pytest.mark.parametrize("version", [1, 3])
def test_reads_versions_without_vectors_by_the_files_alone(tables, version):
    shared = tables["marked"]

    frame = delta_sharing.load_as_pandas(
        shared.url, version=version, use_delta_format=False
    )

    assert of_frame(frame) == of_table(shared.table.snapshot(version).read())


def test_reads_the_version_of_a_moment(tables: SharedTables) -> None:
    shared = tables["orders"]
    then = shared.table.snapshot(1).timestamp + timedelta(seconds=1)

    frame = delta_sharing.load_as_pandas(shared.url, timestamp=then.isoformat())

    assert of_frame(frame) == of_table(shared.table.snapshot(1).read())


def test_reads_fewer_files_by_a_json_hint(tables: SharedTables) -> None:
    shared = tables["orders"]
    whole = shared.table.snapshot(3).read()
    hint = json.dumps(
        {
            "op": "equal",
            "children": [
                {"op": "column", "name": "country", "valueType": "string"},
                {"op": "literal", "value": "DE", "valueType": "string"},
            ],
        }
    )

    frame = delta_sharing.load_as_pandas(shared.url, version=3, jsonPredicateHints=hint)

    german = whole.filter(pc.field("country") == "DE")
    assert 0 < len(frame) < whole.num_rows
    assert of_frame(frame[frame["country"] == "DE"]) == of_table(german)


def test_tells_the_version_of_a_table(tables: SharedTables) -> None:
    shared = tables["customers"]

    assert delta_sharing.get_table_version(shared.url) == shared.table.latest_version()


def test_tells_the_version_from_a_moment_on(tables: SharedTables) -> None:
    shared = tables["customers"]
    made = shared.table.snapshot(4).timestamp

    found = delta_sharing.get_table_version(shared.url, made.isoformat())

    assert found == 4


def test_tells_the_metadata_of_a_table(tables: SharedTables) -> None:
    shared = tables["orders"]
    snapshot = shared.table.snapshot()

    metadata = delta_sharing.get_table_metadata(shared.url)

    assert metadata.id == snapshot.metadata.id
    assert metadata.partition_columns == list(snapshot.metadata.partition_columns)
    assert metadata.size == snapshot.size_bytes
    assert metadata.num_files == snapshot.num_files
    fields = json.loads(metadata.schema_string)["fields"]
    assert [field["name"] for field in fields] == list(snapshot.schema.names)


def test_tells_the_protocol_of_a_table(tables: SharedTables) -> None:
    protocol = delta_sharing.get_table_protocol(tables["orders"].url)

    assert protocol.min_reader_version == 1
