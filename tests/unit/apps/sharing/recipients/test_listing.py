"""The state of a recipient's tokens in one word, and the list that filters by it."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from apps.pages.page_json import csv_rows
from apps.pages.request.list_page import ListQuery
from apps.sharing.models import Recipient
from apps.sharing.recipients.forms import STATES
from apps.sharing.recipients.listing import (
    RECIPIENTS,
    recipient_page,
    recipient_resource,
)
from tests.support.pages.factories import (
    FAR_AHEAD,
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_token,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.slow]
DAY = timedelta(days=1)
WAITING = {"token_sha256": None, "activated_at": None}


def names(query: ListQuery) -> list[str]:
    return [row.recipient.name for row in recipient_page(None, query, NOW).rows]


TOKENS: dict[str, tuple[list[dict[str, Any]], str, datetime | None]] = {
    "none": ([], "none", None),
    "one": ([{}], "active", FAR_AHEAD),
    "a week": ([{"expires_at": NOW + 7 * DAY}], "expiring", NOW + 7 * DAY),
    "eight days": ([{"expires_at": NOW + 8 * DAY}], "active", NOW + 8 * DAY),
    "thirty days": ([{"expires_at": NOW + 30 * DAY}], "active", NOW + 30 * DAY),
    "one that ends soon beside one that does not": (
        [{"expires_at": NOW + 5 * DAY}, {}],
        "active",
        FAR_AHEAD,
    ),
    "a retiring one, its successor not activated": (
        [{"retires_at": NOW + DAY}, WAITING],
        "expiring",
        NOW + DAY,
    ),
    "never activated": ([WAITING], "waiting", None),
    "expired, a new one waits": ([{"expires_at": NOW}, WAITING], "waiting", None),
    "waited too long": ([WAITING | {"expires_at": NOW}], "expired", None),
    "expired": ([{"expires_at": NOW}], "expired", None),
    "retired": ([{"retires_at": NOW}], "expired", None),
    "revoked": ([{"revoked_at": NOW}], "revoked", None),
    "the newest of those that ended decides": (
        [{"revoked_at": NOW, "created_at": NOW - DAY}, {"expires_at": NOW}],
        "expired",
        None,
    ),
}


def test_the_state_of_the_tokens_is_one_word() -> None:
    """Of each recipient by itself as the list of all has it."""
    found = {}
    for number, (case, (tokens, _, _)) in enumerate(TOKENS.items()):
        recipient = new_recipient(f"r{number}", comment=case)
        for fields in tokens:
            new_token(recipient, **fields)
        resource = recipient_resource(recipient, now=NOW)
        found[case] = (tokens, resource.state, resource.token_ends_at)

    assert found == TOKENS
    for state in {state for _, state, _ in TOKENS.values()}:
        rows = recipient_page(None, RECIPIENTS.query(state=state), NOW).rows
        assert state in STATES
        assert {row.recipient.comment for row in rows} == {
            case for case, (_, wanted, _) in TOKENS.items() if wanted == state
        }


def test_the_search_finds_names_contacts_comments_and_shares() -> None:
    acme = new_recipient(contact="data@globex.example")
    new_recipient("initech", comment="Contract 4711")
    for name in ("retail_emea", "retail_apac"):
        new_grant(new_share(name), acme)

    assert names(RECIPIENTS.query(q="GLOBEX")) == ["acme"]
    assert names(RECIPIENTS.query(q="4711")) == ["initech"]
    assert names(RECIPIENTS.query(q="retail")) == ["acme"]
    assert recipient_page(None, RECIPIENTS.query(q="retail"), NOW).paged.count == 1
    assert names(RECIPIENTS.query(q="nobody")) == []


def test_orders() -> None:
    a, b, c = (new_recipient(name) for name in ("a", "B", "c"))
    new_token(a, last_used_at=NOW - DAY, expires_at=NOW + 90 * DAY)
    new_token(b, last_used_at=NOW, expires_at=NOW + 30 * DAY)
    Recipient.objects.filter(id=c.id).update(created_at=NOW + DAY)

    assert names(RECIPIENTS.query()) == ["a", "B", "c"]
    assert names(RECIPIENTS.query(sort="-used")) == ["B", "a", "c"]
    assert names(RECIPIENTS.query(sort="ends")) == ["B", "a", "c"]
    assert names(RECIPIENTS.query(sort="-created"))[0] == "c"


def test_the_csv_holds_every_row_of_the_filter() -> None:
    acme = new_recipient(allowed_networks=["10.0.0.0/8"], properties={"region": "EU"})
    new_token(acme)
    new_grant(new_share(), acme)
    new_recipient("initech")

    entries = RECIPIENTS.every(None, RECIPIENTS.query(state="active"), NOW)
    header, *rows = csv_rows(RECIPIENTS.entry, entries)

    assert header[0] == "name"
    assert [dict(zip(header, row, strict=True)) for row in rows] == [
        {
            "name": "acme",
            "contact": None,
            "comment": "",
            "state": "active",
            "token_state": "active",
            "token_ends_at": FAR_AHEAD,
            "num_shares": 1,
            "shares": "sales",
            "last_used_at": None,
            "allowed_networks": "10.0.0.0/8",
            "properties": "region=EU",
            "earlier_urls_end_at": None,
            "plain": False,
            "created_at": NOW,
            "id": acme.id,
            "url": "/recipients/acme/",
        }
    ]
