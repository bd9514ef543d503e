"""One S3 server for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.support.stores.s3_server import S3Server, running_s3


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """An S3 server that ends with the last test."""
    with running_s3() as server:
        yield server
