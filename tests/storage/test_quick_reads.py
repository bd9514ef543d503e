"""Logs in object stores as obstore reads them: just as the drivers of fsspec do."""

from typing import Any

import fsspec
import pytest

from deltaweb.delta.errors import CredentialsNeededError, LocationDeniedError
from deltaweb.storage.objects import quick
from deltaweb.storage.objects.hosts import ALLOWED_HOSTS
from deltaweb.storage.remote import RemoteTableStore
from tests.support.stores.azure_server import AzureServer
from tests.support.stores.s3_server import S3Server

NAMES = [f"{version:020}.json" for version in range(30)]
SIDECARS = [f"_sidecars/{number:03}.parquet" for number in range(12)]
LATER = "_tail"
ROOT = "a b/ü=1/%41"
Log = tuple[str, dict[str, Any]]


def filled(url: str, options: dict[str, Any]) -> Log:
    fs = fsspec.filesystem(url.partition("://")[0], **options)
    for name in [*NAMES, *SIDECARS, LATER]:
        fs.pipe_file(f"{url}/_delta_log/{name}", name.encode())
    return url, {**options, ALLOWED_HOSTS: ("127.0.0.1",)}


@pytest.fixture(scope="module")
def on_s3(seaweed: S3Server) -> Log:
    return filled(f"s3://{seaweed.new_bucket()}/{ROOT}", seaweed.options)


@pytest.fixture(scope="module")
def on_azure(azure: AzureServer) -> Log:
    host = "devstoreaccount1.dfs.core.windows.net"
    url, options = filled(f"az://{azure.new_container()}/{ROOT}", azure.options)
    container, _, place = url.removeprefix("az://").partition("/")
    return f"abfss://{container}@{host}/{place}", options


@pytest.fixture(params=["on_s3 obstore", "on_s3", "on_azure obstore", "on_azure"])
def store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> RemoteTableStore:
    """The same log by one driver, which alone answers."""
    where, _, is_quick = request.param.partition(" ")
    monkeypatch.setattr(quick, "MAX_SKIPPED", 5)
    store = RemoteTableStore(*request.getfixturevalue(where))
    if is_quick:
        monkeypatch.setattr(store, "_cat", None)
        monkeypatch.setattr("deltaweb.storage.remote.list_folder", None)
    else:
        monkeypatch.setattr(store, "_quick", quick.QuickReads(None))
    return store


def test_names_are_listed_from_one_on(store: RemoteTableStore) -> None:
    assert store.list_names_from("") == [*NAMES, LATER]
    assert store.list_names_from(NAMES[7]) == [*NAMES[7:], LATER]
    assert store.list_names_from(f"{7:020}.k") == [*NAMES[8:], LATER]
    found = store.list_from(NAMES[-1])[0]
    assert (found.size, found.modification_time > 1_600_000_000_000) == (25, True)
    assert [one.name for one in store.list_sidecars()] == SIDECARS


def test_files_are_read(store: RemoteTableStore) -> None:
    names = NAMES[::-1]

    assert [file.data.decode() for file in store.read_many(names)] == names
    assert store.read(LATER) == b"_tail"
    with pytest.raises(FileNotFoundError):
        store.read("gone")
    with pytest.raises(FileNotFoundError):
        store.read_many([*NAMES, "gone"])


def test_a_fault_is_told_by_s3fs(on_s3: Log) -> None:
    url, options = on_s3
    wrong = {**options, "secret": "wrong"}

    with pytest.raises(CredentialsNeededError):
        RemoteTableStore(url, wrong).list_from("")
    with pytest.raises(LocationDeniedError):
        RemoteTableStore(url, wrong).read(NAMES[0])
