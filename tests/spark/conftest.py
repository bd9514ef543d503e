"""One SparkSession and one S3 server for all tests of this folder."""

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.stores.gated_storage import gated_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from tests.support.peers.reference_implementation import Reference
    from tests.support.stores.s3_server import S3Server

# A query of some rows takes less than the making of code for it does, or than its plan
# being made again between its stages and told to nobody. Tests of workers and of
# clusters, which start processes of their own, have plans as Spark makes them.
FOR_SOME_ROWS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
}
FEW_TASKS = {
    "deltaweb.spark.log.replay.SHUFFLE_PARTITIONS": 2,
    "deltaweb.spark.data_files.shares.PARTS_A_CORE": 1,
    "deltaweb.spark.data_files.shares.LEAST_PARTS": 2,
}


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """A session of two threads, stopped with its JVM after the last test.

    Its tasks read tables of `tests.support.stores.gated_storage`, too.
    """
    from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session

    folder = tmp_path_factory.mktemp("spark")
    options = SparkOptions(master="local[2]", folder=folder, driver_memory="2g")
    known = set(os.environ)
    with pytest.MonkeyPatch.context() as variables:
        for name, value in gated_environment(folder / "site").items():
            variables.setenv(name, value)
        session = get_spark(options)
    for name, value in FOR_SOME_ROWS.items():
        session.conf.set(name, value)
    with pytest.MonkeyPatch.context() as patched:
        for name, number in FEW_TASKS.items():
            patched.setattr(name, number)
        yield session
    stop_session()
    for name in os.environ.keys() - known:  # set by the session for those it starts
        del os.environ[name]


@pytest.fixture(scope="package")
def s3() -> "Iterator[S3Server]":
    """An S3 server that ends with the last test."""
    from tests.support.stores.s3_server import running_s3

    with running_s3() as server:
        yield server


@pytest.fixture(scope="package")
def reference(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Reference]":
    """The one process of the reference implementation, a JVM of its own."""
    from tests.support.peers.reference_implementation import running_reference

    with running_reference(tmp_path_factory.mktemp("reference")) as running:
        yield running
