"""A table is late if its namespace declares a limit and no version came in time."""

from datetime import timedelta

import pytest

from apps.tables.health.lateness import report_late_tables
from apps.tables.models import NamespaceThresholds, Table
from tests.support.pages.factories import NOW, new_table
from tests.support.pages.reported import reported, sentences

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def table() -> Table:
    return new_table("orders", namespace="sales", version=4, committed_at=NOW)


@pytest.fixture(autouse=True)
def _limit() -> None:
    NamespaceThresholds.objects.create(
        namespace="sales", values={"late_minutes": 90}, changed_at=NOW
    )


def look(minutes: int) -> list[object]:
    report_late_tables(NOW + timedelta(minutes=minutes))
    return [one["version"] for one in reported("table.late")]


def test_a_late_table_is_reported_once_for_a_version(table: Table) -> None:
    assert look(90) == []
    assert look(91) == [4]
    assert look(400) == [4]
    assert sentences() == [
        "sales.orders is late: it has no new version for more than 1 h 30 min."
    ]

    Table.objects.update(version=5, committed_at=NOW + timedelta(minutes=401))
    assert look(402) == [4]
    assert look(492) == [4, 5]
    assert table.full_name == "sales.orders"


@pytest.mark.parametrize(
    "fields",
    [
        {"namespace": "web"},
        {"version": None},
        {"latest_version_seen": 5},
        {"vanished_at": NOW},
    ],
    ids=["another namespace", "not indexed", "not indexed yet", "gone"],
)
def test_other_tables_are_not_late(table: Table, fields: dict[str, object]) -> None:
    Table.objects.filter(id=table.id).update(**fields)

    assert look(1000) == []
