"""The last listing of a table's folder, as rules see it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from apps.tables.health.known import listed_folder
from apps.tables.operations.vacuum.operation import Deletion, StoredFiles, VacuumStep
from apps.tables.operations.vacuum.storage_ledger import StorageLedger, ledger_parts
from tests.support import cases
from tests.support.pages.factories import new_job

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
GOES = Deletion(num_files=12, size_bytes=90, num_lost=3, first_lost=0, last_lost=2)
LISTED = StorageLedger(
    parts=ledger_parts(
        [
            StoredFiles(kind="live", num_files=5, size_bytes=500),
            StoredFiles(kind="orphan", num_files=2, size_bytes=30),
        ]
    ),
    num_files=7,
    size_bytes=530,
    version=4,
    listed_at=NOW - timedelta(hours=1),
    could_go=VacuumStep(hours=168, deletion=GOES),
)


def test_removed_files_are_what_would_go_without_the_orphans() -> None:
    found = listed_folder(LISTED, now=NOW)
    assert found is not None
    assert (found.removed_files, found.removed_bytes) == (10, 60)
    assert (found.orphan_files, found.orphan_bytes) == (2, 30)
    assert found.num_lost == 3


def test_nothing_would_go() -> None:
    found = listed_folder(replace(LISTED, could_go=None), now=NOW)
    assert found is not None
    assert (found.removed_files, found.num_lost, found.orphan_files) == (0, 0, 2)


@cases(
    "ledger",
    {
        "the folder was never listed": replace(LISTED, listed_at=None),
        "the listing is old": replace(LISTED, listed_at=NOW - timedelta(days=31)),
    },
)
def test_nothing_is_known_if(ledger: StorageLedger) -> None:
    assert listed_folder(ledger, now=NOW) is None


@pytest.mark.django_db
def test_nothing_is_known_after_a_vacuum() -> None:
    assert listed_folder(replace(LISTED, vacuum_since=new_job()), now=NOW) is None
