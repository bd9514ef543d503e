"""What the delta-sharing client reads of an answer that comes in pages.

The client never asks for pages itself, so its requests are made to; what it does with
the lines is its own.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import delta_sharing
import pytest
from delta_sharing.rest_client import DataSharingRestClient

from tests.functional.sharing_clients.conftest import Shared, plain
from tests.functional.sharing_clients.rows import of_frame, of_table
from tests.support import matrix
from tests.support.golden.golden_tables import FOLDERS

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:The behavior of DataFrame concatenation:FutureWarning"
    ),
    pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning"),
    pytest.mark.usefixtures("_pages"),
]

SharedTables = dict[str, Shared]
MAX_FILES = 2
RECORDED = [
    name
    for name in (
        "delta-spark__mapped-by-name",
        "delta-spark__vectors",
        "deltalake__partitions-checkpoint",
        "derived__partition-spellings",
        "golden__data-reader-timestamp_ntz-name-mode",
        "golden__dv-with-columnmapping",
        "golden__hive_deltatbl-special-chars-in-partition-column",
        "golden__time-travel-schema-changes-b",
    )
    if name in FOLDERS
]
"""Recorded tables of more files than a page."""
OFTEN = ["delta-spark__vectors", "deltalake__partitions-checkpoint"]


@pytest.fixture
def _pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the client's queries be answered in pages of a few files."""
    post = DataSharingRestClient._post_internal  # noqa: SLF001 (the client has no other way)

    @contextmanager
    def in_pages(
        self: DataSharingRestClient,
        target: str,
        data: dict[str, Any],
        **options: Any,  # noqa: ANN401 (the client's own)
    ) -> Iterator[Any]:
        found: list[str] = []
        body = {**data, "maxFiles": MAX_FILES}
        while not found or "pageToken" in body:
            with post(self, target, data=body, **options) as (headers, lines):
                *some, last = list(lines)
            assert len(some) <= MAX_FILES + 2
            assert not found or some[:2] == found[:2]
            found += some[2:] if found else some
            body.pop("pageToken", None)
            if token := json.loads(last)["endStreamAction"].get("nextPageToken"):
                body["pageToken"] = token
        yield headers, iter(found)

    monkeypatch.setattr(DataSharingRestClient, "_post_internal", in_pages)


@matrix(
    "name, use_delta_format",
    product(["device_readings", "customers", "marked"], [None, True]),
)
def test_reads_the_rows_that_the_table_holds(tables, name, *, use_delta_format):
    shared = tables[name]
    frame = delta_sharing.load_as_pandas(shared.url, use_delta_format=use_delta_format)

    assert of_frame(frame) == of_table(shared.table.snapshot().read())


def test_reads_a_version_with_deletion_vectors(tables: SharedTables) -> None:
    shared = tables["marked"]

    frame = delta_sharing.load_as_pandas(shared.url, version=2)

    assert of_frame(frame) == of_table(shared.table.snapshot(2).read())


@matrix("name", RECORDED, often=OFTEN)
def test_reads_tables_that_others_wrote(tables: SharedTables, name: str) -> None:
    shared = tables[plain(name)]
    assert shared.table.snapshot().num_files > MAX_FILES

    frame = delta_sharing.load_as_pandas(shared.url)

    assert of_frame(frame) == of_table(shared.table.snapshot().read())
