"""Scans of object stores: what is found, how often is asked, and how they end."""

from typing import Any

import fsspec
import pytest

from deltaweb.storage.objects.errors import BucketNotFoundError
from deltaweb.storage.objects.scan import FoundTables, find_objects
from tests.support.stores.azure_server import AzureServer
from tests.support.stores.google_server import GoogleServer
from tests.support.stores.s3_server import S3Server

COMMIT = f"{0:020}.json"
KEYS = (
    *(f"lake/2024-{number:02}/note" for number in range(30)),
    f"lake/Orders/_delta_log/{COMMIT}",
    "lake/Orders/part-1.parquet",
    f"lake/Orders/nested/_delta_log/{COMMIT}",
    f"lake/sales/ü 1/_delta_log/{COMMIT}",
    f"lake/sales/items/_delta_log/{COMMIT}",
    f"lake/sales/day=1/t/_delta_log/{COMMIT}",
    f"lake/_staging/t/_delta_log/{COMMIT}",
    f"lake2/t/_delta_log/{COMMIT}",
    "lake/file",
)
TABLES = [("Orders",), ("sales", "items"), ("sales", "ü 1")]
Place = tuple[str, dict[str, Any]]


def on_moto(s3: S3Server) -> Place:
    return f"s3://{s3.new_bucket()}", s3.options


def on_seaweed(seaweed: S3Server) -> Place:
    return f"s3://{seaweed.new_bucket()}", seaweed.options


def on_azurite(azure: AzureServer) -> Place:
    # As people write it; az://container is the same.
    host = "devstoreaccount1.dfs.core.windows.net"
    return f"abfss://{azure.new_container()}@{host}", azure.options


def on_google(google: GoogleServer) -> Place:
    return f"gs://{google.new_bucket()}", google.options


def in_memory(_: str) -> Place:
    return "memory://scanned", {}


PLACES = {
    on_moto: "s3",
    on_seaweed: "seaweed",
    on_azurite: "azure",
    on_google: "google",
    in_memory: "testrun_uid",
}


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    needs = PLACES[request.param]
    if needs == "google":
        monkeypatch.setattr(request.getfixturevalue(needs), "names_a_page", 7)
    found: Place = request.param(
        "" if needs == "testrun_uid" else request.getfixturevalue(needs)
    )
    return found


def fill(place: Place) -> None:
    url, options = place
    fs = fsspec.filesystem(url.partition("://")[0], **options)
    for key in KEYS:
        fs.pipe_file(f"{url}/{key}", b"{}")


def test_finds_the_tables_of_every_store(place: Place) -> None:
    fill(place)
    url, options = place

    found = find_objects(f"{url}/lake", options)

    assert found.tables == TABLES
    assert found.location(found.tables[1]) == f"{url}/lake/sales/items"
    assert (found.unreadable, found.truncated) == ([], False)
    assert find_objects(f"{url}/lake/Orders", options).tables == [()]
    assert find_objects(f"{url}/no/such", options).tables == []


def test_a_bucket_may_be_scanned_whole(s3: S3Server) -> None:
    place = on_moto(s3)
    fill(place)

    found = find_objects(*place)

    assert found.tables[-1] == ("lake2", "t")
    assert found.tables[:-1] == [("lake", *parts) for parts in TABLES]


def test_lists_folders_over_many_pages(s3: S3Server, monkeypatch: pytest.MonkeyPatch):
    place = on_moto(s3)
    fill(place)
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "7")

    assert find_objects(f"{place[0]}/lake", place[1]).tables == TABLES


def test_can_be_stopped_and_says_how_far_it_is(s3: S3Server) -> None:
    place = on_moto(s3)
    fill(place)
    told: list[int] = []

    class StopError(Exception):
        pass

    def stop(found: FoundTables) -> None:
        told.append(found.num_folders)
        raise StopError

    with pytest.raises(StopError):
        find_objects(place[0], place[1], on_progress=stop)
    assert told
    assert told[0] > 0


@pytest.mark.parametrize("server", ["s3", "seaweed"])
def test_a_bucket_that_is_not_there_is_a_sentence(server, request):
    options = request.getfixturevalue(server).options

    with pytest.raises(BucketNotFoundError, match="s3://no-such-bucket/lake names"):
        find_objects("s3://no-such-bucket/lake", options)
