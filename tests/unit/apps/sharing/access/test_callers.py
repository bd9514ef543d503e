import sqlite3
from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from apps.sharing import errors
from apps.sharing.access import callers as access
from apps.sharing.models import RecipientToken
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_token,
)

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _nothing_noted() -> None:
    access.forget_notes()


@pytest.mark.django_db
class TestAuthenticate:
    def test_takes_one_query_by_an_index(self, django_assert_num_queries):
        token, secret = new_token()

        with django_assert_num_queries(1) as queries:
            found = access.authenticate(secret, now=NOW)
            assert found.recipient.name == "acme"

        assert found == token
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
                plan = str(cursor.fetchall())
            assert "SCAN" not in plan

    @pytest.mark.parametrize("ends", ["expires_at", "retires_at"])
    def test_works_until_its_last_moment(self, ends: str) -> None:
        fields: dict[str, Any] = {ends: NOW + SECOND}
        token, secret = new_token(**fields)

        assert access.authenticate(secret, now=NOW) == token

    @cases(
        "change",
        {
            "nothing": lambda secret: secret[:0],
            "cut": lambda secret: secret[:-1],
            "longer": lambda secret: f"{secret}x",
            "other capitals": lambda secret: secret.swapcase(),
            "a blank before it": lambda secret: f" {secret}",
            "no text": lambda secret: f"{secret}\udc80\0",
        },
    )
    def test_nearly_right_is_unknown(self, change: Callable[[str], str]) -> None:
        _, secret = new_token()

        with pytest.raises(errors.TokenUnknownError):
            access.authenticate(change(secret), now=NOW)

    def test_the_stored_hash_opens_nothing(self) -> None:
        token, _ = new_token()
        assert token.token_sha256

        with pytest.raises(errors.TokenUnknownError):
            access.authenticate(token.token_sha256, now=NOW)

    def test_a_token_that_waits_opens_nothing(self) -> None:
        token, _ = new_token(token_sha256=None, activated_at=None)

        for guess in (token.prefix, "", "None"):
            with pytest.raises(errors.TokenUnknownError):
                access.authenticate(guess, now=NOW)


@pytest.mark.django_db
def test_an_unknown_address_is_refused_where_there_is_a_list() -> None:
    with pytest.raises(errors.AddressNotAllowedError, match="An unknown address"):
        access.check_address(new_recipient(allowed_networks=["::/0"]), "")


@pytest.mark.django_db
class TestNoteUse:
    def note(self, token: RecipientToken, seconds: float, agent: str = "a") -> None:
        access.note_use(
            token,
            address="192.0.2.7",
            user_agent=agent,
            now=NOW + timedelta(seconds=seconds),
        )

    def test_remembers_when_from_where_and_by_what(self) -> None:
        token, _ = new_token()

        self.note(token, 0, "Delta-Sharing-Python/1.4.1" + "x" * 300)

        token.refresh_from_db()
        assert (token.last_used_at, token.last_used_from) == (NOW, "192.0.2.7")
        assert len(token.last_used_agent) == 300

    def test_is_written_every_ten_seconds_at_most(self, django_assert_num_queries):
        token, secret = new_token()
        self.note(token, 0)

        with django_assert_num_queries(0):
            self.note(token, 9.9, "b")
            self.note(token, 9.99, "b")
        access.forget_notes()  # as another process
        fresh = access.authenticate(secret, now=NOW)
        with django_assert_num_queries(0):
            self.note(fresh, 9.99, "b")
        self.note(fresh, 10, "c")

        token.refresh_from_db()
        assert (token.last_used_at, token.last_used_agent) == (NOW + 10 * SECOND, "c")

    def test_never_goes_back_in_time(self) -> None:
        token, secret = new_token()
        stale = access.authenticate(secret, now=NOW)
        self.note(token, 60)
        access.forget_notes()

        self.note(stale, 0)

        token.refresh_from_db()
        assert token.last_used_at == NOW + 60 * SECOND

    def test_forgets_before_it_remembers_too_many(self) -> None:
        for _ in range(3):
            self.note(new_token(new_recipient(f"r{_}"))[0], 0)

        assert RecipientToken.objects.filter(last_used_at=NOW).count() == 3


def busy_timeout_ms() -> int:
    """How long the connection waits for others: shorter where a server was loaded."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (wait_ms,) = cursor.fetchone()
    return int(wait_ms)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    "sqlite3" not in settings.DATABASES["default"]["ENGINE"],
    reason="other databases lock rows, not files",
)
def test_a_locked_database_costs_the_note_and_not_the_request() -> None:
    token, _ = new_token()
    access.forget_notes()
    usual_wait_ms = busy_timeout_ms()
    writer = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        begun = monotonic()
        access.note_use(token, address="192.0.2.7", user_agent="a", now=NOW)
        waited_s = monotonic() - begun
    finally:
        writer.execute("ROLLBACK")
        writer.close()

    assert waited_s < usual_wait_ms / 1000
    token.refresh_from_db()
    assert token.last_used_at is None
    assert busy_timeout_ms() == usual_wait_ms


@pytest.mark.django_db
class TestGranted:
    def test_shares_are_the_recipient_s_own_by_name(self) -> None:
        acme, globex = new_recipient("acme"), new_recipient("globex")
        for name, recipient in (("Zeta", acme), ("alpha", acme), ("mid", globex)):
            new_grant(new_share(name), recipient)

        assert [share.name for share in access.granted_shares(acme)] == [
            "alpha",
            "Zeta",
        ]

    def test_a_table_comes_with_its_share_and_registration(
        self, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        recipient, share = new_recipient(), new_share()
        new_grant(share, recipient)
        new_shared_table(share, "crm.orders")

        with django_assert_num_queries(1):
            table = access.granted_table(recipient, "sales", "crm", "orders")
            assert (table.share.name, table.table.full_name) == ("sales", "crm.orders")
