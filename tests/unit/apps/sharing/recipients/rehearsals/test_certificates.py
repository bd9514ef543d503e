"""A certificate a client and table, and since which version a commit broke one."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apps.sharing.models import Certificate, Recipient, SharedTable
from apps.sharing.recipients.rehearsals.certificates import (
    broken_for,
    broken_in,
    certificates_of,
    keep,
)
from apps.sharing.recipients.rehearsals.rehearsal import Reading, Rehearsal
from tests.support import cases
from tests.support.pages.factories import new_recipient, new_share, new_shared_table

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = datetime(2026, 5, 1, tzinfo=UTC)
PASSED: dict[str, Any] = {"num_rows": 7, "error": None}
FAILED: dict[str, Any] = {"num_rows": None, "error": "ValueError: no"}


@pytest.fixture
def acme() -> Recipient:
    return new_recipient()


@pytest.fixture
def orders() -> SharedTable:
    return new_shared_table(new_share("sales"), "crm.orders")


def held(shared: SharedTable, client: str = "polars", **facts: Any) -> Rehearsal:  # noqa: ANN401 (fields)
    """A rehearsal of one client and one table."""
    reading = {
        "client": client,
        "client_version": "2.1",
        "table": f"sales.{shared.full_name}",
        "shared_id": shared.id,
        "version": 3,
        "size_bytes": None,
        "duration_s": 0.5,
        **PASSED,
    } | facts
    return Rehearsal(
        recipient="acme", rehearsed_at=NOW, readings=[Reading(**reading)], missing=[]
    )


@cases(
    "rehearsals, expected",
    {
        "it reads": ([(3, PASSED)], (3, None)),
        "it has never read": ([(3, FAILED)], (None, None)),
        "a commit broke it": ([(3, PASSED), (5, FAILED)], (3, 5)),
        "no commit is to blame": ([(3, PASSED), (3, FAILED)], (3, None)),
        "it stays broken": ([(3, PASSED), (5, FAILED), (6, FAILED)], (3, 5)),
        "mended": ([(3, PASSED), (5, FAILED), (6, PASSED)], (6, None)),
        "not to be opened": ([(3, PASSED), (None, FAILED)], (3, None)),
        "other rows": ([(3, PASSED), (4, {"is_equal": False})], (3, 4)),
    },
)
def test_it_is_marked_since_which_version_a_client_is_broken(
    acme, orders, rehearsals, expected
) -> None:
    for version, facts in rehearsals:
        keep(acme, held(orders, version=version, **facts))

    (found,) = certificates_of(acme)

    assert (found.passed_version, found.broken_since) == expected
    is_broken = expected[1] is not None
    assert broken_for(acme) == ([found] if is_broken else [])
    assert broken_in([orders.id]) == ({orders.id: [found]} if is_broken else {})


def test_what_is_no_longer_read_has_none(acme, orders) -> None:
    keep(acme, held(orders, client="polars"))
    keep(acme, held(orders, client="duckdb"))

    assert [one.client for one in certificates_of(acme)] == ["duckdb"]


def test_a_table_that_was_taken_out_meanwhile_is_left_out(acme, orders) -> None:
    rehearsal = held(orders)
    orders.delete()

    keep(acme, rehearsal)

    assert not Certificate.objects.exists()
