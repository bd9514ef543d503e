"""The last listing of a table's folder, as rules see it."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from apps.sharing.models import Hold
from apps.tables.health.known import listed_folder, scheduled_vacuum
from apps.tables.models import RepeatedOperation, Table
from apps.tables.operations.vacuum.operation import Deletion, StoredFiles, VacuumStep
from apps.tables.operations.vacuum.storage_ledger import StorageLedger, ledger_parts
from deltaweb.health.facts import HealthFacts, ScheduledVacuum
from tests.support import cases
from tests.support.pages.factories import (
    new_commit,
    new_job,
    new_recipient,
    new_shared_table,
    new_table,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
KEEPS_A_WEEK = HealthFacts(table="orders", file_retention_ms=7 * 86_400_000)
LAST_OLD = 3
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
    assert (found.removed_files, found.num_lost, found.orphan_files) == (0, 0, 0)


def test_orphans_that_are_too_young_to_go_do_not_count() -> None:
    goes = VacuumStep(hours=168, deletion=replace(GOES, num_files=1, size_bytes=10))
    found = listed_folder(replace(LISTED, could_go=goes), now=NOW)
    assert found is not None
    assert (found.orphan_files, found.orphan_bytes) == (1, 10)
    assert (found.removed_files, found.removed_bytes) == (0, 0)


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


@pytest.mark.django_db
class TestAScheduledVacuum:
    """Version 3 removes files eight days before, and version 6 one day before."""

    @pytest.fixture
    def orders(self) -> Table:
        orders = new_table()
        for version in range(8):
            days = 8 if version <= LAST_OLD else 1
            new_commit(
                orders,
                version,
                committed_at=NOW - timedelta(days=days) + timedelta(hours=version),
                num_removed_files=int(version in {3, 6}),
            )
        orders.commits.filter(version=0).update(readability="PARTLY")
        RepeatedOperation.objects.create(
            table=orders,
            operation="vacuum",
            every="day",
            at=time(12),
            due_at=NOW + timedelta(hours=12),
            created_at=NOW,
        )
        return orders

    def test_ends_the_readable_versions_before_old_removals(
        self, orders: Table
    ) -> None:
        assert scheduled_vacuum(KEEPS_A_WEEK, orders, now=NOW) == ScheduledVacuum(
            next_at=NOW + timedelta(hours=12), hours=168.0, first_lost=1, last_lost=2
        )

    def test_keeps_files_for_its_own_hours(self, orders: Table) -> None:
        orders.repeated_operations.update(parameters={"hours": 24.0})
        found = scheduled_vacuum(KEEPS_A_WEEK, orders, now=NOW)
        assert found is not None
        assert (found.hours, found.first_lost, found.last_lost) == (24.0, 1, 5)

    def test_ends_no_version_that_is_held(self, orders: Table) -> None:
        Hold.objects.create(
            recipient=new_recipient(),
            shared_table=new_shared_table(table=orders),
            version=2,
            ends_at=NOW + timedelta(days=9),
            made_at=NOW,
        )
        found = scheduled_vacuum(KEEPS_A_WEEK, orders, now=NOW)
        assert found is not None
        assert (found.first_lost, found.last_lost) == (1, 1)

    def test_is_none_without_a_schedule(self, orders: Table) -> None:
        orders.repeated_operations.all().delete()
        assert scheduled_vacuum(KEEPS_A_WEEK, orders, now=NOW) is None

    def test_ends_nothing_if_nothing_was_removed(self, orders: Table) -> None:
        orders.commits.update(num_removed_files=0)
        assert scheduled_vacuum(KEEPS_A_WEEK, orders, now=NOW) is None
