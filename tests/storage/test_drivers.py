"""What commits, scans and reads rely on, held against each driver of each store."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.stores.azure_server import ACCOUNT, KEY, AzureServer
from tests.support.stores.drivers import (
    Driver,
    FsspecDriver,
    azure_by_obstore,
    s3_by_obstore,
)
from tests.support.stores.google_server import GoogleServer, running_google
from tests.support.stores.s3_server import S3Server

LOG = "a b/ü=1/_delta_log"
Open = Callable[[], Driver]


@pytest.fixture(scope="module")
def google() -> Iterator[GoogleServer]:
    with pytest.MonkeyPatch.context() as patch, running_google() as server:
        patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
        yield server


def moto_by_s3fs(s3: S3Server) -> Driver:
    return FsspecDriver(f"s3://{s3.new_bucket()}", s3.options)


def moto_by_obstore(s3: S3Server) -> Driver:
    return s3_by_obstore(s3.new_bucket(), s3.options)


def seaweed_by_s3fs(seaweed: S3Server) -> Driver:
    return FsspecDriver(f"s3://{seaweed.new_bucket()}", seaweed.options)


def seaweed_by_obstore(seaweed: S3Server) -> Driver:
    return s3_by_obstore(seaweed.new_bucket(), seaweed.options)


def azurite_by_adlfs(azure: AzureServer) -> Driver:
    return FsspecDriver(f"az://{azure.new_container()}", azure.options)


def azurite_by_obstore(azure: AzureServer) -> Driver:
    url = f"http://127.0.0.1:{azure.port}/{ACCOUNT}"
    return azure_by_obstore(azure.new_container(), account=ACCOUNT, key=KEY, url=url)


def google_by_gcsfs(google: GoogleServer) -> Driver:
    # Only this driver speaks the JSON API that the server of the tests has.
    return FsspecDriver(f"gs://{google.new_bucket()}", google.options)


OPENERS = {
    moto_by_s3fs: "s3",
    moto_by_obstore: "s3",
    seaweed_by_s3fs: "seaweed",
    seaweed_by_obstore: "seaweed",
    azurite_by_adlfs: "azure",
    azurite_by_obstore: "azure",
    google_by_gcsfs: "google",
}


@pytest.fixture(params=OPENERS, ids=lambda opener: opener.__name__)
def driver(request: pytest.FixtureRequest) -> Driver:
    opened: Driver = request.param(request.getfixturevalue(OPENERS[request.param]))
    return opened


def test_creates_once_and_never_again(driver: Driver) -> None:
    driver.create(f"{LOG}/0.json", b"first")

    with pytest.raises(FileExistsError):
        driver.create(f"{LOG}/0.json", b"second")

    assert driver.read(f"{LOG}/0.json") == b"first"


def test_of_racing_creations_one_wins(driver: Driver) -> None:
    start = threading.Barrier(6)

    def write(number: int) -> int | None:
        start.wait()
        try:
            driver.create(f"{LOG}/0.json", b"%d" % number * 1_000)
        except FileExistsError:
            return None
        return number

    with ThreadPoolExecutor(6) as pool:
        winners = [n for n in pool.map(write, range(6)) if n is not None]

    assert len(winners) == 1
    assert driver.read(f"{LOG}/0.json") == b"%d" % winners[0] * 1_000


def test_lists_a_folder_from_a_name_on(driver: Driver) -> None:
    names = [f"{number:020}.json" for number in range(12)]
    for name in names:
        driver.create(f"{LOG}/{name}", b"{}")
    driver.create("a b/ü=1/part-1", b"beside")

    assert driver.list_from(LOG, "") == names
    assert driver.list_from(LOG, names[7]) == names[7:]
    assert driver.list_from(LOG, f"{6:020}.k") == names[7:]


def test_reads_the_beginning_of_an_empty_object(driver: Driver) -> None:
    driver.create(f"{LOG}/empty", b"")
    driver.create(f"{LOG}/full", b"0123456789")

    assert driver.read_head(f"{LOG}/empty", 100) == b""
    assert driver.read_head(f"{LOG}/full", 4) == b"0123"
    assert driver.read_head(f"{LOG}/full", 100) == b"0123456789"


def test_what_is_not_there_is_not_found(driver: Driver) -> None:
    with pytest.raises(FileNotFoundError):
        driver.read(f"{LOG}/0.json")


def test_deletes_many_and_passes_over_what_is_gone(driver: Driver) -> None:
    names = [f"part {number}" for number in range(12)]
    for name in names:
        driver.create(f"t/{name}", b"data")

    driver.delete_many("t", [*names[2:], "gone"])

    assert driver.list_from("t", "") == names[:2]
