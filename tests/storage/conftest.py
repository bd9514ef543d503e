"""One server of each kind for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.support.stores.azure_server import AzureServer, running_azure
from tests.support.stores.google_server import GoogleServer, running_google
from tests.support.stores.s3_server import S3Server, running_s3
from tests.support.stores.seaweed_server import running_seaweed


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """An S3 server that ends with the last test."""
    with running_s3() as server:
        yield server


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """Another one, for what moto does otherwise than servers of people do."""
    with running_seaweed(tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.fixture(scope="session")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AzureServer]:
    """A server of Azure's blobs; each test has containers of its own."""
    with running_azure(tmp_path_factory.mktemp("azure")) as server:
        yield server


@pytest.fixture(scope="session")
def google() -> Iterator[GoogleServer]:
    """A server of Google's objects; each test has buckets of its own."""
    with pytest.MonkeyPatch.context() as patch, running_google() as server:
        # Else the driver asks Google itself, by gRPC, of what kind each bucket is.
        patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
        yield server
