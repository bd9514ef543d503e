from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection

from apps.audit.models import AuditEvent
from apps.pages.actions import Actor, Stamp
from apps.sharing import errors
from apps.sharing.access import callers as access
from apps.sharing.issuing import activation, tokens
from apps.sharing.issuing.profile import Profile
from apps.sharing.models import ActivationLink, RecipientToken
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_token,
)

pytestmark = [pytest.mark.database, pytest.mark.slow]

WHO = Actor(name="ada")
STAMP = Stamp(WHO, NOW)
HOME = "192.0.2.7"
LATER = NOW + timedelta(minutes=5)


def new_link(networks: Iterable[str] = ()) -> tuple[RecipientToken, str]:
    """A waiting token and the nonce of its link."""
    recipient = new_recipient(allowed_networks=list(networks))
    token = tokens.issue_token(recipient, lifetime=timedelta(days=30), stamp=STAMP)
    return token, renew(token)


def renew(token: RecipientToken) -> str:
    return tokens.issue_link(token, stamp=STAMP).link.rpartition("/")[2]


def activate(nonce: str, *, address: str = HOME, now: datetime = LATER) -> Profile:
    profile = activation.activate(
        nonce,
        caller=activation.Caller(
            address=address, user_agent="curl/8", request_id="abc"
        ),
        now=now,
    )
    assert isinstance(profile, Profile)
    return profile


def downloads() -> list[tuple[int, str]]:
    events = AuditEvent.objects.filter(kind=AuditEvent.Kind.ACTIVATION).order_by("id")
    return list(events.values_list("status", "error_code"))


@pytest.mark.django_db
class TestLookUp:
    def test_says_what_the_link_opens_and_leaves_it_unspent(self) -> None:
        token, nonce = new_link()
        share = new_share("sales")
        new_shared_table(share, "crm.orders")
        new_grant(share, token.recipient)

        for _ in range(3):
            found = activation.look_up(nonce, address=HOME, now=LATER)

        assert found.shares == ("sales",)
        assert found.file_name == "acme.share"
        assert found.link_expires_at == ActivationLink.objects.get().expires_at
        assert found.token_expires_at == token.expires_at
        assert downloads() == []
        assert activate(nonce).bearer_token


@pytest.mark.django_db
class TestActivate:
    def test_makes_the_secret_and_records_the_download(self) -> None:
        token, nonce = new_link()

        profile = activate(nonce)

        found = access.authenticate(profile.bearer_token, now=LATER)
        assert found == token
        assert (found.activated_at, found.activated_from) == (LATER, HOME)
        link = ActivationLink.objects.get()
        assert (link.used_at, link.used_from) == (LATER, HOME)
        event = AuditEvent.objects.latest("id")
        assert event.action == "activation.download"
        assert (event.status, event.recipient, event.token_prefix) == (
            200,
            "acme",
            token.prefix,
        )
        assert (event.address, event.user_agent, event.request_id) == (
            HOME,
            "curl/8",
            "abc",
        )

    def test_no_secret_is_in_the_record_or_the_database(self) -> None:
        _, nonce = new_link()

        profile = activate(nonce)

        kept = [
            str(list(model.objects.values()))
            for model in (AuditEvent, ActivationLink, RecipientToken)
        ]
        assert not any(nonce in text for text in kept)
        assert not any(profile.bearer_token in text for text in kept)

    def test_works_once(self) -> None:
        _, nonce = new_link()
        activate(nonce)

        with pytest.raises(errors.LinkUsedError, match="2026-11-21 at 12:05 UTC"):
            activate(nonce)

        assert downloads() == [(200, ""), (410, "activation-link-used")]

    def test_expires(self) -> None:
        _, nonce = new_link()
        ends_at = ActivationLink.objects.get().expires_at

        with pytest.raises(errors.LinkExpiredError):
            activate(nonce, now=ends_at)

        assert downloads() == [(410, "activation-link-expired")]
        assert activate(nonce, now=ends_at - timedelta(seconds=1)).bearer_token

    def test_is_withdrawn_by_a_newer_link(self) -> None:
        token, nonce = new_link()
        newer = renew(token)

        with pytest.raises(errors.LinkWithdrawnError):
            activate(nonce)

        assert activate(newer).bearer_token

    def test_is_over_when_its_token_is_revoked(self) -> None:
        token, nonce = new_link()
        tokens.revoke(token, stamp=STAMP)

        with pytest.raises(errors.LinkRevokedError):
            activate(nonce)

        assert downloads() == [(410, "activation-link-revoked")]

    def test_is_over_when_a_rotation_replaced_its_token(self) -> None:
        token, nonce = new_link()
        tokens.rotate(
            token.recipient,
            lifetime=timedelta(days=1),
            keep_old=timedelta(hours=1),
            stamp=STAMP,
        )

        with pytest.raises(errors.LinkExpiredError):
            activate(nonce)

    def test_is_withdrawn_by_a_direct_download(self) -> None:
        token, nonce = new_link()
        tokens.issue_profile(token, stamp=STAMP)

        with pytest.raises(errors.LinkWithdrawnError):
            activate(nonce)

    @pytest.mark.parametrize("address", ["198.51.100.9", "", "2001:db8::1"])
    def test_is_refused_from_a_wrong_address_and_stays_unspent(self, address: str):
        _, nonce = new_link(["192.0.2.0/24"])

        with pytest.raises(errors.AddressNotAllowedError):
            activation.look_up(nonce, address=address, now=LATER)
        with pytest.raises(errors.AddressNotAllowedError):
            activate(nonce, address=address)

        assert downloads() == [(403, "address-not-allowed")]
        assert activate(nonce).bearer_token

    def test_a_stranger_does_not_learn_that_a_link_was_used(self) -> None:
        _, nonce = new_link(["192.0.2.0/24"])
        activate(nonce)

        with pytest.raises(errors.AddressNotAllowedError):
            activate(nonce, address="198.51.100.9")

    @pytest.mark.parametrize("nonce", ["", "x" * 43, "\udc80", "a\0b"])
    def test_what_was_never_issued_is_unknown_and_leaves_no_record(self, nonce: str):
        with pytest.raises(errors.LinkUnknownError):
            activate(nonce)

        assert downloads() == []

    def test_an_active_token_has_no_second_secret(self) -> None:
        token, secret = new_token()

        with pytest.raises(errors.TokenStateError):
            tokens.take_secret(token, address=HOME, now=LATER)

        assert access.authenticate(secret, now=LATER) == token


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(5))
def test_of_several_requests_at_once_one_gets_the_profile(attempt: int) -> None:
    del attempt
    _, nonce = new_link()
    barrier = Barrier(4)

    def fetch(_: int) -> Profile | None:
        try:
            barrier.wait(60)
            return activate(nonce)
        except errors.LinkUsedError:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        profiles = [profile for profile in pool.map(fetch, range(4)) if profile]

    assert len(profiles) == 1
    assert access.authenticate(profiles[0].bearer_token, now=LATER).prefix
    assert sorted(downloads()) == [(200, "")] + [(410, "activation-link-used")] * 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(5))
def test_a_link_and_a_direct_download_at_once_make_one_secret(attempt: int) -> None:
    del attempt
    token, nonce = new_link()
    barrier = Barrier(2)

    def by_link() -> Profile | None:
        try:
            barrier.wait(60)
            return activate(nonce)
        except errors.ActivationError:
            return None
        finally:
            connection.close()

    def directly() -> Profile | None:
        try:
            barrier.wait(60)
            taken = tokens.issue_profile(token, stamp=Stamp(WHO, LATER))
        except errors.TokenStateError:
            return None
        else:
            assert isinstance(taken, Profile)
            return taken
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(by_link), pool.submit(directly)]
        profiles = [found for future in futures if (found := future.result())]

    assert len(profiles) == 1
    assert access.authenticate(profiles[0].bearer_token, now=LATER).prefix
