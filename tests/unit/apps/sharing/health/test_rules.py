"""Rules about shares, tokens and recipients find what refuses a recipient."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from apps.pages.actions import Action, command_stamp
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.health.examining import examine_sharing, follow_action
from apps.sharing.health.rules import (
    broken_shares,
    ending_tokens,
    find_all,
    recipients_without_rows,
)
from apps.sharing.models import PreparedVersion, Recipient, Share, SharedTable
from apps.tables.models import StoredFinding, Table
from deltaweb.health.finding import Severity
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def share(db: None) -> Share:  # noqa: ARG001 (a row)
    return new_share("retail")


@pytest.fixture
def acme(share: Share) -> Recipient:
    acme = new_recipient("acme")
    new_grant(share, acme)
    return acme


def _offer(share: Share, condition: str = "", **fields: Any) -> SharedTable:  # noqa: ANN401 (columns)
    table = new_table("sales.orders", **fields)
    new_metadata(table)
    return new_shared_table(share, "crm.orders", table=table, condition=condition)


def _sentences() -> list[str]:
    found = [one for one in recipients_without_rows() if one is not None]
    return [one.finding.sentence for one in found]


@pytest.mark.usefixtures("acme")
def test_a_recipient_without_the_property_of_a_rule_sees_no_row(share: Share) -> None:
    _offer(share, "note = recipient.country")

    assert _sentences() == [
        "acme sees no row of crm.orders: it has no property country."
    ]


def test_a_recipient_with_the_property_may_see_rows(
    share: Share, acme: Recipient
) -> None:
    _offer(share, "note = recipient.country")
    acme.properties = {"country": "DE"}
    acme.save()

    assert _sentences() == []


def test_a_prepared_version_without_rows_is_a_finding(
    share: Share, acme: Recipient
) -> None:
    shared = _offer(share, "id < 0")
    assert _sentences() == []

    PreparedVersion.objects.create(
        shared_table=shared,
        rule=rule_for(shared, acme).digest,
        version=2,
        num_signed=0,
        num_rewritten=0,
        num_absent=3,
        size_bytes=0,
        num_rows=0,
        prepared_at=NOW,
    )

    assert _sentences() == [
        "acme sees no row of crm.orders: no row of version 2 meets its condition."
    ]


def test_an_empty_table_is_not_the_fault_of_a_rule(
    share: Share, acme: Recipient
) -> None:
    shared = _offer(share, "id < 0", num_files=0)
    PreparedVersion.objects.create(
        shared_table=shared,
        rule=rule_for(shared, acme).digest,
        version=2,
        num_signed=0,
        num_rewritten=0,
        num_absent=0,
        size_bytes=0,
        num_rows=0,
        prepared_at=NOW,
    )

    assert _sentences() == []


@pytest.mark.usefixtures("acme")
def test_a_share_that_is_off_has_no_findings(share: Share) -> None:
    _offer(share, "note = recipient.country", vanished_at=NOW)
    Share.objects.update(off_since=NOW)

    assert (_sentences(), [*broken_shares()]) == ([], [])


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"vanished_at": NOW}, "its lake no longer has sales.orders."),
        (
            {"state": Table.State.FAILED, "error": "Storage refuses the key."},
            "Storage refuses the key.",
        ),
        ({"state": Table.State.UNSUPPORTED}, "deltaweb does not read its newest"),
    ],
)
def test_a_table_that_cannot_be_read_breaks_its_share(
    share: Share, fields: dict[str, Any], said: str
) -> None:
    _offer(share, **fields)

    (found,) = broken_shares()

    assert found.subject == "retail"
    assert found.finding.severity == Severity.ACT_NOW
    assert said in found.finding.sentence


def test_a_share_without_recipients_refuses_nobody(share: Share) -> None:
    _offer(share, vanished_at=NOW)

    assert [*broken_shares()] == []


@pytest.mark.usefixtures("share")
@pytest.mark.parametrize(
    ("days", "severity"), [(1, Severity.ACT_NOW), (5, Severity.TO_KNOW), (30, None)]
)
def test_the_last_token_of_a_recipient_ends_soon(
    acme: Recipient, days: int, severity: Severity | None
) -> None:
    now = timezone.now()
    new_token(acme, expires_at=now + timedelta(days=days, hours=1))

    found = [one.finding for one in ending_tokens(now)]

    assert [one.severity for one in found] == ([] if severity is None else [severity])
    if found:
        assert found[0].remedy is not None
        assert found[0].remedy.command == "deltaweb recipient rotate acme"


def test_a_recipient_whose_token_has_ended_is_missed_while_it_was_in_use(
    acme: Recipient,
) -> None:
    now = timezone.now()
    ended = new_token(acme, expires_at=now - timedelta(days=1))[0]
    assert [*ending_tokens(now)] == []

    ended.last_used_at = now - timedelta(days=2)
    ended.save()

    (found,) = ending_tokens(now)
    assert found.finding.sentence == "All tokens of acme have expired: it is refused."


@pytest.mark.usefixtures("acme")
def test_a_look_without_time_closes_nothing_that_it_did_not_reach(
    share: Share,
) -> None:
    _offer(share, "note = recipient.country")
    new_grant(share, other := new_recipient("globex"))
    examine_sharing(NOW)
    other.properties = {"country": "DE"}
    other.save()

    found, unfinished = find_all(NOW, budget_s=-1)
    examine_sharing(NOW, budget_s=-1)

    assert unfinished == ("recipient-sees-no-rows",)
    assert len(found) == 1
    assert StoredFinding.objects.open().count() == 2
    examine_sharing(NOW)
    assert [one.subject for one in StoredFinding.objects.open()] == ["acme"]


@pytest.mark.django_db(transaction=True)
def test_a_change_of_sharing_is_followed_by_one_look(acme, share) -> None:
    _offer(share, "note = recipient.country")

    with transaction.atomic():
        for name in ("share.filter_table", "recipient.update", "table.optimize"):
            follow_action(Action(name=name, stamp=command_stamp()))
        assert not StoredFinding.objects.exists()

    (found,) = StoredFinding.objects.open()
    assert (found.is_of_sharing, found.subject) == (True, acme.name)
