"""What the page of a recipient computes beside the light of its rotation."""

from datetime import timedelta

import pytest

from apps.audit.models import AuditEvent
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.recipients.detail import recipient_detail
from tests.support import cases
from tests.support.pages.factories import NOW, new_recipient, new_token

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def call(token: RecipientToken, *, times: int) -> None:
    AuditEvent.objects.bulk_create(
        AuditEvent(
            at=NOW, kind=AuditEvent.Kind.CALL, action="table.query", token_id=token.id
        )
        for _ in range(times)
    )


@pytest.fixture
def acme() -> Recipient:
    return new_recipient()


@cases(
    "old_calls, new_calls, percent",
    {
        "none": (0, 0, None),
        "all with the old one": (4, 0, 0),
        "most with the new one": (1, 2, 67),
        "all with the new one": (0, 3, 100),
    },
)
def test_a_rotation_says_how_many_calls_come_with_the_new_token(
    acme: Recipient, old_calls: int, new_calls: int, percent: int | None
) -> None:
    new, _ = new_token(acme)
    old, _ = new_token(acme, retires_at=NOW + DAY, replaced_by=new)
    call(old, times=old_calls)
    call(new, times=new_calls)

    panel = recipient_detail(acme, now=NOW).panel

    assert panel is not None
    assert (panel.old_today, panel.new_requests[-1]) == (old_calls, new_calls)
    assert panel.new_percent == percent


def test_tokens_that_live_come_before_those_that_ended(acme: Recipient) -> None:
    ended, _ = new_token(acme, created_at=NOW, revoked_at=NOW)
    live, _ = new_token(acme, created_at=NOW - DAY)
    older, _ = new_token(acme, created_at=NOW - 2 * DAY)

    detail = recipient_detail(acme, now=NOW)

    assert [row.token for row in detail.tokens] == [live, older, ended]
    assert [row.is_live for row in detail.tokens] == [True, True, False]
