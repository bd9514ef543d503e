"""What others share with us, read from a real server as their client does."""

import json
import warnings
from pathlib import Path

import delta_sharing
import pyarrow as pa
import pytest

from apps.accounts.models import User
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.sharing.errors import ReceivedSharedError
from apps.sharing.shares.services import create_share
from apps.sharing.shares.terms import add_table
from apps.tables.models import StorageConnection, Table
from deltaweb.errors import ProviderRefusedError, ReceivedTableError
from deltaweb.storage.received.store import ReceivedTableStore
from deltaweb.table import DeltaTable
from tests.functional import command_line
from tests.functional.sharing_clients.conftest import (
    IN_DELTA_FORMAT,
    RECORDED,
    SHARE,
    WITH_FEED,
    Shared,
    features_of,
    new_profile,
    plain,
    put_into_share,
)
from tests.functional.sharing_clients.every_door.cells import TOLD
from tests.functional.sharing_clients.rows import of_frame, of_table
from tests.support import matrix
from tests.support.pages.factories import NOW, signed_in
from tests.support.processes.installation import Installation

SharedTables = dict[str, Shared]
GIFTS = "gifts"
MADE_HERE = ["customers", "odd_paths", "fed", "instants", "marked"]


def shown(name: str) -> list[str]:
    """What a recorded table shows that its own client is told of."""
    return [one for one in features_of(name) if one in TOLD]


@pytest.mark.parametrize("name", MADE_HERE)
def test_reads_the_rows_that_the_providers_own_client_reads(tables, name: str) -> None:
    shared = tables[name]
    # In delta format the client spoils characters beyond the basic plane.
    is_delta = name != "odd_paths"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, and of a folder that it leaves
        frame = delta_sharing.load_as_pandas(shared.url, use_delta_format=is_delta)

    received = DeltaTable(shared.url).snapshot()

    assert of_table(received.read()) == of_frame(frame)
    assert list(received.schema.names) == list(frame.columns)


@matrix("name", [*RECORDED, *IN_DELTA_FORMAT, *WITH_FEED], by=shown)
def test_reads_tables_that_others_wrote(tables: SharedTables, name: str) -> None:
    shared = tables[plain(name)]

    received = DeltaTable(shared.url)

    newest = received.snapshot()
    assert newest.version == shared.table.snapshot().version
    assert of_table(newest.read()) == of_table(shared.table.snapshot().read())


@pytest.mark.parametrize("name", ["fed", "marked"])
def test_reads_versions_that_the_provider_tells(tables, name: str) -> None:
    shared = tables[name]
    received = DeltaTable(shared.url)

    versions = [commit.version for commit in received.history()]

    assert len(versions) > 3
    # Every file is a request, and the newest version and the first differ most.
    for version in {*versions[:: len(versions) // 4], versions[-1]}:
        own = shared.table.snapshot(version)
        assert of_table(received.snapshot(version).read()) == of_table(own.read())


def test_reads_the_rows_that_changed(tables: SharedTables) -> None:
    shared = tables["fed"]

    received = DeltaTable(shared.url).changes(1).read_all()

    own = shared.table.changes(1).read_all()
    left_out = ["_commit_timestamp"]  # of files that were copied
    assert of_table(received.drop_columns(left_out)) == of_table(
        own.drop_columns(left_out)
    )


def test_follows_what_the_provider_writes(server: Installation) -> None:
    place = server.home / "growing"
    own = DeltaTable.create(str(place), pa.schema([("n", pa.int64())]))
    own.append(pa.table({"n": [1, 2]}))
    server.command("share", "create", "growing")
    put_into_share(server, "growing", {"growing": place}, space="growing")
    url = f"{new_profile(server, 'grower', 'growing')}#growing.data.growing"
    received = DeltaTable(url)
    assert sorted(received.snapshot().read()["n"].to_pylist()) == [1, 2]

    own.append(pa.table({"n": [3]}))
    own.delete("n = 1")
    own.optimize()
    received.store._looked_s = float("-inf")  # type: ignore[attr-defined]  # noqa: SLF001  # as two seconds later

    assert sorted(received.snapshot().read()["n"].to_pylist()) == [2, 3]
    assert sorted(received.snapshot(2).read()["n"].to_pylist()) == [1, 2, 3]
    assert received.snapshot().version == own.snapshot().version


def test_asks_again_for_a_url_that_has_ended(tables: SharedTables) -> None:
    shared = tables["device_readings"]
    received = DeltaTable(shared.url)
    snapshot = received.snapshot()
    store = received.store
    assert isinstance(store, ReceivedTableStore)
    for name, signed in store._urls.items():  # noqa: SLF001  # what time does to them
        spoilt = signed.url.replace("signature=", "signature=0").replace("exp", "xxp")
        object.__setattr__(signed, "url", spoilt + "0")
        assert name

    assert of_table(snapshot.read()) == of_table(shared.table.snapshot().read())


def test_is_read_and_never_written(tables: SharedTables) -> None:
    received = DeltaTable(tables["fed"].url)

    with pytest.raises(ReceivedTableError, match="belongs to its provider"):
        received.delete("true")


def test_a_token_that_is_not_taken_is_said(profile: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt.share"
    fields = json.loads(profile.read_text()) | {"bearerToken": "dws_other"}
    spoilt.write_text(json.dumps(fields))

    with pytest.raises(ProviderRefusedError, match="HTTP 401"):
        DeltaTable(f"{spoilt}#{SHARE}.data.orders").snapshot()


def test_reads_by_an_oauth_client(server: Installation, tables: SharedTables) -> None:
    server.command("recipient", "create", "oauth-reader", "--share", SHARE)
    profile = server.home / "oauth-reader.share"
    server.command("recipient", "add-client", "oauth-reader", "--profile", str(profile))
    assert json.loads(profile.read_text())["type"] == "oauth_client_credentials"

    received = DeltaTable(f"{profile}#{SHARE}.data.fed")

    own = tables["fed"].table.snapshot()
    assert of_table(received.snapshot().read()) == of_table(own.read())


def test_a_secret_that_is_not_taken_is_said(server, tables, tmp_path: Path) -> None:
    assert tables
    server.command("recipient", "create", "oauth-other", "--share", SHARE)
    profile = tmp_path / "other.share"
    server.command("recipient", "add-client", "oauth-other", "--profile", str(profile))
    fields = json.loads(profile.read_text()) | {"clientSecret": "wrong-secret"}
    profile.write_text(json.dumps(fields))

    with pytest.raises(ProviderRefusedError, match="HTTP 401") as caught:
        DeltaTable(f"{profile}#{SHARE}.data.fed").snapshot()

    assert "wrong-secret" not in str(caught.value)


def test_the_command_line_shows_a_table_of_a_profile(tables) -> None:
    shown = command_line.run_json("table", "show", tables["orders"].url)

    own = tables["orders"].table.snapshot()
    assert shown["version"] == own.version
    assert shown["num_files"] == len(own.files)


# === In the catalogue ===


@pytest.fixture(scope="module")
def gifts(server: Installation, tables: SharedTables) -> Path:
    """The profile of a recipient of three tables: each test adds them all."""
    assert tables
    server.command("share", "create", GIFTS)
    for name in ("orders", "customers", "returns"):
        place = (f"data.{name}", "--table", f"shared.{name}")
        server.command("share", "add-table", GIFTS, *place)
    return new_profile(server, "receiver", GIFTS)


@pytest.fixture
def added(db: None, gifts: Path, settings, tmp_path: Path):
    """The provider `acme`, whose tables are in the catalogue."""
    del db
    settings.HOME = tmp_path
    settings.STORAGE_HOSTS = ["127.0.0.1"]
    return command_line.run_json("received", "add", "acme", str(gifts))


def test_a_profile_brings_its_tables_into_the_catalogue(added) -> None:
    names = {table["name"] for table in added["tables"]}
    assert names == {
        f"{GIFTS}.data.{name}" for name in ("orders", "customers", "returns")
    }
    table = Table.objects.get(namespace="acme", name=f"{GIFTS}_data_orders")
    assert table.location == f"received://acme/{GIFTS}/data/orders"
    (listed,) = command_line.run_json("received", "list")
    assert listed["num_tables"] == len(names)
    assert listed["state"] == "answers"


def test_a_token_goes_in_and_never_comes_out(added, gifts: Path) -> None:
    bearer = json.loads(gifts.read_text())["bearerToken"]
    admin = signed_in("ada", role=User.Role.ADMIN)
    shown = [
        json.dumps(added),
        command_line.Ran("received", "list").stdout,
        command_line.Ran("storage", "list", "--json").stdout,
        admin.get("/received/").content.decode(),
        admin.get("/received.json").content.decode(),
        StorageConnection.objects.get(name="acme").sealed,
    ]

    assert all(bearer not in text and bearer[:20] not in text for text in shown)
    assert added["token_end"] == bearer[-4:]


def test_a_received_table_is_not_shared_on(added) -> None:
    assert added
    share = create_share(name="mine", stamp=Stamp(COMMAND_LINE, NOW))
    table = Table.objects.get(namespace="acme", name=f"{GIFTS}_data_orders")

    with pytest.raises(ReceivedSharedError, match="was received from acme"):
        add_table(
            share, table=table, schema="a", name="b", stamp=Stamp(COMMAND_LINE, NOW)
        )


def test_a_received_tables_page_offers_nothing_that_only_refuses(added) -> None:
    assert added
    table = Table.objects.get(namespace="acme", name=f"{GIFTS}_data_orders")

    page = signed_in("ada", role=User.Role.ADMIN).get(table.get_absolute_url())

    text = page.content.decode()
    assert "Check for new commits" in text
    assert "Settings of this table" in text
    for offer in ("Maintenance", "Share…", "Vacuum…", "Import a file…", "Protocol…"):
        assert offer not in text


def test_what_is_withdrawn_is_marked_and_comes_back(added, server) -> None:
    server.command("share", "remove-table", GIFTS, "data.returns", "--yes")
    try:
        command_line.run_json("received", "refresh", "acme")
        page = signed_in("ada", role=User.Role.ADMIN).get("/received/").content.decode()
        (listed,) = command_line.run_json("received", "list")
    finally:
        place = ("data.returns", "--table", "shared.returns")
        server.command("share", "add-table", GIFTS, *place)

    gone = [one["name"] for one in listed["tables"] if one["withdrawn_at"]]
    assert gone == [f"{GIFTS}.data.returns"]
    assert listed["num_tables"] == added["num_tables"] - 1
    assert "withdrawn" in page
    again = command_line.run_json("received", "refresh", "acme")
    assert again["num_withdrawn"] == 0


def test_a_provider_is_forgotten_with_its_tables(added) -> None:
    assert added
    command_line.Ran("received", "remove", "acme", "--yes")

    assert not Table.objects.filter(namespace="acme").exists()
    assert command_line.run_json("received", "list") == []
    assert "No provider is named" in command_line.refusal("received", "refresh", "acme")
