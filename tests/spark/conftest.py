"""One SparkSession and one S3 server for all tests of this folder."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.gated_storage import gated_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from tests.s3_server import S3Server


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """A session of two threads, stopped with its JVM after the last test.

    Its tasks read tables of `tests.gated_storage`, too.
    """
    from deltaweb.spark.session import SparkOptions, get_spark, stop_session

    folder = tmp_path_factory.mktemp("spark")
    options = SparkOptions(master="local[2]", folder=folder, driver_memory="1g")
    with pytest.MonkeyPatch.context() as variables:
        for name, value in gated_environment(folder / "site").items():
            variables.setenv(name, value)
        session = get_spark(options)
    yield session
    stop_session()


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the sample tables, which no test changes."""
    from datetime import UTC, datetime

    from deltaweb.samples import make_samples

    folder = tmp_path_factory.mktemp("lake")
    make_samples(folder, datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
    return folder


@pytest.fixture(scope="session")
def s3() -> "Iterator[S3Server]":
    """An S3 server that ends with the last test."""
    from tests.s3_server import running_s3

    with running_s3() as server:
        yield server
