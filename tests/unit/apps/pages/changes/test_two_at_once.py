"""A change sees its subject as it is now, not as it was when it was found."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpResponse
from django.test import RequestFactory

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.pages.changes import once
from apps.pages.changes.change import Nothing
from apps.pages.changes.html import change_view
from apps.pages.errors import ChangedMeanwhileError
from apps.sharing.errors import LimitInvalidError
from apps.sharing.models import Recipient
from apps.sharing.recipients.changes.new_tokens import NEW_TOKEN, ROTATE
from apps.sharing.recipients.changes.settings import (
    DELETE,
    LIMIT,
    UPDATE,
    ChangedRecipient,
    Limits,
    RecipientChange,
)
from apps.sharing.recipients.changes.token_resource import NewToken, TokenRotation
from apps.sharing.recipients.changes.tokens import REVOKE_ALL
from apps.sharing.shares.grants import ADD, Pair
from tests.support import cases
from tests.support.pages.factories import new_recipient, new_share, signed_in

pytestmark = pytest.mark.django_db
STAMP = Stamp(COMMAND_LINE, datetime(2026, 7, 1, tzinfo=UTC))


@pytest.fixture
def found() -> Recipient:
    """A recipient as one request has found it."""
    return Recipient.objects.get(id=new_recipient().id)


@cases(
    "change, new",
    {
        "its settings": (UPDATE, RecipientChange(comment="new")),
        "its limits": (LIMIT, Limits(soft_limit="1TiB")),
        "its end": (DELETE, Nothing()),
        "a token": (NEW_TOKEN, NewToken()),
        "a rotation": (ROTATE, TokenRotation()),
        "the end of its tokens": (REVOKE_ALL, Nothing()),
    },
)
def test_what_another_request_has_deleted_is_not_changed(found, change, new) -> None:
    Recipient.objects.all().delete()

    with pytest.raises(ChangedMeanwhileError):
        change.carry_out(found, new, STAMP)

    assert not AuditEvent.objects.exists()


def test_a_share_that_is_gone_is_granted_to_nobody(found: Recipient) -> None:
    pair = Pair(new_share(), found.name)
    type(pair.share).objects.all().delete()

    with pytest.raises(ChangedMeanwhileError):
        ADD.carry_out(pair, Nothing(), STAMP)


def test_limits_that_another_request_has_set_meanwhile_count(found: Recipient) -> None:
    Recipient.objects.update(hard_limit_bytes=1 << 30)

    with pytest.raises(LimitInvalidError, match="above the hard limit"):
        LIMIT.carry_out(found, Limits(soft_limit="3TiB"), STAMP)


def test_a_record_tells_what_was_there_when_the_change_was_made(found) -> None:
    Recipient.objects.update(comment="of another request")

    UPDATE.carry_out(found, RecipientChange(comment="mine"), STAMP)

    (event,) = AuditEvent.objects.all()
    assert "of another request" in str(event.detail)


def test_a_name_that_another_request_takes_first_is_a_conflict(found) -> None:
    def take_twice(_: Recipient, __: RecipientChange, ___: Stamp) -> ChangedRecipient:
        raise AssertionError(new_recipient(found.name))

    with pytest.raises(ChangedMeanwhileError):
        replace(UPDATE, do=take_twice).carry_out(found, RecipientChange(), STAMP)


def test_a_save_of_a_row_that_another_request_deletes_is_a_conflict(found) -> None:
    def save_late(lost: Recipient, __: RecipientChange, ___: Stamp) -> ChangedRecipient:
        Recipient.objects.all().delete()
        lost.save(update_fields=["comment"])
        raise AssertionError

    with pytest.raises(ChangedMeanwhileError):
        replace(UPDATE, do=save_late).carry_out(found, RecipientChange(), STAMP)


def test_a_page_of_what_is_gone_is_a_conflict(found: Recipient) -> None:
    admin, find = signed_in("ada", role="ADMIN"), UPDATE.of.find
    page = UPDATE.pages["recipient-settings"]

    def find_and_lose(name: str) -> Recipient:
        lost: Recipient = find(name)
        Recipient.objects.all().delete()
        return lost

    view = change_view(
        UPDATE, replace(page, find=find_and_lose), shown=lambda *_, **__: HttpResponse()
    )
    request = RequestFactory().post("/", {"comment": "new"})
    request.user = User.objects.get(id=admin.session["_auth_user_id"])

    with pytest.raises(ChangedMeanwhileError):
        view(request, name=found.name)


def test_a_form_that_is_sent_twice_at_once_counts_once() -> None:
    stored = SessionStore()
    stored.save()
    requests = [
        RequestFactory().post("/", {once.FIELD: str(key)})
        for key in 2 * [once.new_key()]
    ]
    for request in requests:
        request.session = SessionStore(stored.session_key)
        assert not request.session.get("sent_once")  # both have read it

    repeats = [once.is_repeat(request) for request in requests]

    assert repeats == [False, True]
