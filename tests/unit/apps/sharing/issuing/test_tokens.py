from datetime import timedelta
from typing import Any

import pytest
from pytest_django import Settings

from apps.audit.models import AuditEvent
from apps.pages.actions import Actor, Stamp
from apps.sharing import errors
from apps.sharing.access import callers as access
from apps.sharing.issuing import tokens
from apps.sharing.issuing.profile import Profile
from apps.sharing.models import ActivationLink, Recipient, RecipientToken
from tests.support import cases
from tests.support.pages.factories import NOW, new_recipient, new_token

pytestmark = [pytest.mark.django_db, pytest.mark.database]
WHO = Actor(name="ada", address="192.0.2.1")
STAMP = Stamp(WHO, NOW)
State = RecipientToken.State
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def waiting(recipient: Recipient | None = None) -> RecipientToken:
    return tokens.issue_token(
        recipient or new_recipient(), lifetime=30 * DAY, stamp=STAMP
    )


def rotate(recipient: Recipient, keep_old: timedelta) -> RecipientToken:
    return tokens.rotate(recipient, lifetime=90 * DAY, keep_old=keep_old, stamp=STAMP)


class TestIssueToken:
    def test_waits_and_holds_no_hash(self) -> None:
        token = waiting()

        assert token.token_sha256 is None
        assert token.state(NOW) == State.WAITING
        assert token.expires_at == NOW + 30 * DAY
        assert token.created_by_name == "ada"
        event = AuditEvent.objects.get()
        assert (event.action, event.token_prefix) == ("token.issue", token.prefix)
        assert event.token_id == token.id

    def test_leaves_the_others_alone(self) -> None:
        recipient = new_recipient()
        _, secret = new_token(recipient)

        waiting(recipient)
        waiting(recipient)

        assert access.authenticate(secret, now=NOW).retires_at is None
        assert recipient.tokens.count() == 3

    @pytest.mark.parametrize("lifetime", [timedelta(0), -DAY, 366 * DAY])
    def test_lives_as_long_as_allowed(self, lifetime: timedelta) -> None:
        with pytest.raises(errors.LifetimeInvalidError):
            tokens.issue_token(new_recipient(), lifetime=lifetime, stamp=STAMP)


class TestIssueLink:
    def test_is_absolute_and_kept_as_a_hash(self, settings: Settings) -> None:
        settings.PUBLIC_URL = "https://share.example.com"

        url = tokens.issue_link(waiting(), stamp=STAMP).link

        base, _, nonce = url.rpartition("/")
        assert base == "https://share.example.com/activate"
        assert len(nonce) == 43
        link = ActivationLink.objects.get()
        assert link.nonce_sha256 != nonce
        assert nonce not in str(AuditEvent.objects.values())

    def test_a_newer_one_withdraws_the_older(self) -> None:
        token = waiting()
        tokens.issue_link(token, stamp=STAMP)

        tokens.issue_link(token, stamp=Stamp(WHO, NOW + HOUR))

        newer, older = ActivationLink.objects.all()
        assert (newer.withdrawn_at, older.withdrawn_at) == (None, NOW + HOUR)

    def test_never_outlives_its_token(self, settings: Settings) -> None:
        settings.ACTIVATION_LINK_LIFETIME_S = 7 * 86_400
        token = tokens.issue_token(new_recipient(), lifetime=DAY, stamp=STAMP)

        tokens.issue_link(token, stamp=STAMP)

        assert ActivationLink.objects.get().expires_at == NOW + DAY

    @cases(
        "fields, reason",
        {
            "activated": ({}, "activated already"),
            "revoked": ({"revoked_at": NOW}, "has been revoked"),
            "expired": ({"expires_at": NOW}, "has expired"),
        },
    )
    def test_only_a_waiting_token_gets_one(self, fields: dict[str, Any], reason: str):
        token, _ = new_token(**fields)

        with pytest.raises(errors.TokenStateError, match=reason):
            tokens.issue_link(token, stamp=STAMP)


class TestIssueProfile:
    def test_activates_at_once(self) -> None:
        token = waiting()

        profile = tokens.issue_profile(token, stamp=STAMP)

        assert isinstance(profile, Profile)
        found = access.authenticate(profile.bearer_token, now=NOW)
        assert found == token
        assert found.activated_from == "192.0.2.1"
        assert profile.expiration_time == token.expires_at
        assert profile.bearer_token not in str(AuditEvent.objects.values())


class TestRotate:
    def test_the_old_token_stays_good_for_a_while(self) -> None:
        recipient = new_recipient()
        old, secret = new_token(recipient)

        new = rotate(recipient, 24 * HOUR)

        old.refresh_from_db()
        assert old.state(NOW) == State.RETIRING
        assert (old.retires_at, old.replaced_by) == (NOW + 24 * HOUR, new)
        assert new.state(NOW) == State.WAITING
        access.authenticate(secret, now=NOW + 24 * HOUR - timedelta(seconds=1))
        with pytest.raises(errors.TokenExpiredError):
            access.authenticate(secret, now=NOW + 24 * HOUR)

    def test_without_an_overlap_it_ends_at_once(self) -> None:
        recipient = new_recipient()
        _, secret = new_token(recipient)

        rotate(recipient, timedelta(0))

        with pytest.raises(errors.TokenExpiredError):
            access.authenticate(secret, now=NOW)

    def test_the_overlap_never_passes_the_old_token_s_own_end(self) -> None:
        recipient = new_recipient()
        old, _ = new_token(recipient, expires_at=NOW + HOUR)

        rotate(recipient, 24 * HOUR)

        old.refresh_from_db()
        assert old.retires_at == NOW + HOUR

    def test_a_second_rotation_does_not_prolong_the_first(self) -> None:
        recipient = new_recipient()
        old, _ = new_token(recipient, retires_at=NOW + HOUR)

        new = rotate(recipient, 24 * HOUR)

        old.refresh_from_db()
        assert (old.retires_at, old.replaced_by) == (NOW + HOUR, new)

    def test_replaces_every_live_token(self) -> None:
        recipient = new_recipient()
        for _ in range(3):
            new_token(recipient)

        new = rotate(recipient, HOUR)

        assert new.replaces.count() == 3
        assert recipient.tokens.live(NOW + HOUR).count() == 0

    def test_a_token_that_was_never_fetched_ends_at_once(self) -> None:
        token = waiting()
        tokens.issue_link(token, stamp=STAMP)

        rotate(token.recipient, 24 * HOUR)

        token.refresh_from_db()
        assert token.state(NOW) == State.EXPIRED

    def test_leaves_those_that_have_ended_and_other_recipients_alone(self) -> None:
        recipient = new_recipient()
        revoked, _ = new_token(recipient, revoked_at=NOW)
        expired, _ = new_token(recipient, expires_at=NOW)
        other, _ = new_token(new_recipient("globex"))

        rotate(recipient, HOUR)

        for token in (revoked, expired, other):
            token.refresh_from_db()
            assert (token.retires_at, token.replaced_by) == (None, None)

    def test_is_recorded_with_what_it_replaces(self) -> None:
        recipient = new_recipient()
        old, _ = new_token(recipient)

        new = rotate(recipient, HOUR)

        event = AuditEvent.objects.get()
        assert (event.action, event.token_prefix) == ("token.rotate", new.prefix)
        assert event.detail["replaces"] == [old.prefix]
        assert event.detail["keep_old_s"] == 3600

    @pytest.mark.parametrize("keep_old", [-HOUR, 366 * DAY])
    def test_an_overlap_has_bounds(self, keep_old: timedelta) -> None:
        recipient = new_recipient()

        with pytest.raises(errors.LifetimeInvalidError):
            rotate(recipient, keep_old)

        assert not recipient.tokens.exists()


class TestSetRetirement:
    @pytest.mark.parametrize("span", [HOUR, 48 * HOUR, timedelta(0)])
    def test_moves_the_end(self, span: timedelta) -> None:
        token, _ = new_token(retires_at=NOW + 24 * HOUR)

        moved = tokens.set_retirement(token, retires_at=NOW + span, stamp=STAMP)

        assert moved.retires_at == NOW + span
        assert AuditEvent.objects.get().action == "token.retire"

    def test_never_past_the_expiry(self) -> None:
        token, _ = new_token(expires_at=NOW + DAY)

        with pytest.raises(errors.RetirementInvalidError, match="2026-11-22 12:00 UTC"):
            tokens.set_retirement(token, retires_at=NOW + 2 * DAY, stamp=STAMP)

    def test_a_moment_that_is_over_ends_it_now(self) -> None:
        token, _ = new_token()

        moved = tokens.set_retirement(token, retires_at=NOW - DAY, stamp=STAMP)

        assert moved.retires_at == NOW

    @pytest.mark.parametrize(
        "fields",
        [
            {"revoked_at": NOW},
            {"expires_at": NOW},
            {"retires_at": NOW},
            {"activated_at": None},
        ],
    )
    def test_what_is_not_in_use_stays_as_it_is(self, fields: dict[str, Any]) -> None:
        token, _ = new_token(**fields)

        with pytest.raises(errors.TokenStateError):
            tokens.set_retirement(token, retires_at=NOW + HOUR, stamp=STAMP)


class TestRevoke:
    def test_takes_effect_on_the_next_request(self) -> None:
        token, secret = new_token()

        tokens.revoke(token, stamp=STAMP)

        with pytest.raises(errors.TokenRevokedError):
            access.authenticate(secret, now=NOW)

    def test_withdraws_the_links(self) -> None:
        token = waiting()
        tokens.issue_link(token, stamp=STAMP)

        tokens.revoke(token, stamp=STAMP)

        assert ActivationLink.objects.get().withdrawn_at == NOW

    def test_twice_keeps_the_first_time(self) -> None:
        token, _ = new_token()

        for later in (timedelta(0), HOUR):
            token = tokens.revoke(token, stamp=Stamp(WHO, NOW + later))

        assert token.revoked_at == NOW
        assert AuditEvent.objects.count() == 1

    def test_all_are_those_that_have_not_ended(self) -> None:
        recipient = new_recipient()
        new_token(recipient)
        new_token(recipient, expires_at=NOW)
        waiting(recipient)
        new_token(new_recipient("globex"))

        assert tokens.revoke_all(recipient, stamp=STAMP) == 2
        assert RecipientToken.objects.filter(revoked_at=NOW).count() == 2
