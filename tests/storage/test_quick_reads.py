"""Logs in S3 as obstore reads them: just as s3fs does."""

import pytest

from deltaweb.delta.errors import CredentialsNeededError, LocationDeniedError
from deltaweb.storage.objects import quick
from deltaweb.storage.remote import RemoteTableStore
from tests.support.stores.s3_server import S3Server

NAMES = [f"{version:020}.json" for version in range(30)]
SIDECARS = [f"_sidecars/{number:03}.parquet" for number in range(12)]
LATER = "_tail"
DRIVERS = ["obstore", "s3fs"]


@pytest.fixture(scope="module")
def url(seaweed: S3Server) -> str:
    url = f"s3://{seaweed.new_bucket()}/a b/ü=1/%41"
    for name in [*NAMES, *SIDECARS, LATER]:
        seaweed.put(f"{url}/_delta_log/{name}", name.encode())
    return url


@pytest.fixture(params=DRIVERS)
def store(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    seaweed: S3Server,
) -> RemoteTableStore:
    """The same log by one driver, which alone answers."""
    monkeypatch.setattr(quick, "MAX_PASSED_OVER", 5)
    store = RemoteTableStore(url, seaweed.options)
    if request.param == "s3fs":
        monkeypatch.setattr(store, "_quick", quick.QuickReads(None))
    else:
        monkeypatch.setattr(store, "_cat", None)
        monkeypatch.setattr("deltaweb.storage.remote.list_folder", None)
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


def test_a_fault_is_told_by_s3fs(url: str, seaweed: S3Server) -> None:
    wrong = {**seaweed.options, "secret": "wrong"}

    with pytest.raises(CredentialsNeededError):
        RemoteTableStore(url, wrong).list_from("")
    with pytest.raises(LocationDeniedError):
        RemoteTableStore(url, wrong).read(NAMES[0])
