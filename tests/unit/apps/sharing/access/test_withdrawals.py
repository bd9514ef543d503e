"""How a table of a share stands: the state and the lists say the same."""

from typing import Any

import pytest

from apps.sharing.access.withdrawals import (
    FORBIDDEN_CODES,
    GONE_CODES,
    LISTED,
    Offer,
    offer_state,
    with_parts,
)
from apps.sharing.models import Share, SharedSchema, SharedTable
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)

pytestmark = pytest.mark.django_db
NAME = "crm.orders"
PART: dict[str, dict[str, Any]] = {
    "condition": {"condition": "note = 'a'"},
    "columns": {"columns": ["id"]},
    "whole": {},
}


def in_schema(share: Share, **table: Any) -> SharedTable:  # noqa: ANN401 (columns)
    """A table that came into a share with the whole namespace `crm`."""
    schema = SharedSchema.objects.create(
        share=share, schema="all", schema_key="all", namespace="crm", added_at=NOW
    )
    registered = new_table(**{"name": NAME, **table})
    return new_shared_table(share, "all.orders", table=registered, from_schema=schema)


def check(shared: SharedTable, offer: Offer) -> None:
    """Check the state, of the row by itself and of one that a list annotated."""
    (annotated,) = with_parts(SharedTable.objects.filter(id=shared.id))
    is_listed = SharedTable.objects.filter(LISTED, id=shared.id).exists()

    assert offer_state(shared).offer is offer_state(annotated).offer is offer
    assert offer_state(shared).is_withdrawn is not is_listed


@pytest.mark.parametrize("code", [*GONE_CODES, *FORBIDDEN_CODES, "log-corrupt", ""])
def test_a_table_is_withdrawn_by_what_its_storage_said(code: str) -> None:
    by_itself = new_shared_table(table=new_table(NAME, error_code=code))
    expected = Offer.GONE if code in GONE_CODES else Offer.FORBIDDEN
    known = (*GONE_CODES, *FORBIDDEN_CODES)

    check(by_itself, expected if code in known else Offer.ACTIVE)


def test_a_table_that_vanished_is_gone() -> None:
    check(new_shared_table(table=new_table(NAME, vanished_at=NOW)), Offer.GONE)


@pytest.mark.parametrize(
    ("table", "offer"),
    [
        ({}, Offer.ACTIVE),
        ({"name": "hr.orders"}, Offer.MOVED),
        ({"is_private": True}, Offer.HIDDEN),
        ({"vanished_at": NOW}, Offer.GONE),
    ],
)
def test_a_table_of_a_namespace_counts_while_viewers_find_it_there(table, offer):
    check(in_schema(new_share(), **table), offer)


def test_a_restricted_table_that_was_put_in_by_itself_is_offered() -> None:
    check(new_shared_table(table=new_table(NAME, is_private=True)), Offer.ACTIVE)


@pytest.mark.parametrize("part", PART)
def test_a_part_beside_a_table_of_a_namespace_counts_alone(part: str) -> None:
    share = new_share()
    new_grant(share, new_recipient())
    whole = in_schema(share)
    beside = new_shared_table(share, NAME, table=whole.table, **PART[part])

    check(whole, Offer.ACTIVE if part == "whole" else Offer.IN_PART)
    check(beside, Offer.ACTIVE)


def test_a_part_in_another_share_takes_nothing_away() -> None:
    whole = in_schema(new_share())
    other = new_share("other")
    new_shared_table(other, NAME, table=whole.table, condition="note = 'a'")

    check(whole, Offer.ACTIVE)
