"""What is reported of accounts: who changed what, and who came in."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import RequestFactory

from apps.accounts import errors, services
from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.pages.actions import Actor, Stamp
from tests.support import cases
from tests.support.pages.factories import NOW, new_user

pytestmark = pytest.mark.django_db
ADMIN = Actor(name="ada", user_id=7, address="192.0.2.1")
STRANGER = Actor(name="anonymous", address="198.51.100.9", user_agent="Firefox")
PASSWORD = "a long enough phrase"
BY: dict[str, Any] = {"stamp": Stamp(ADMIN, NOW)}
BY_STRANGER = Stamp(STRANGER, NOW)


def vera() -> User:
    new_user("root", role=User.Role.ADMIN)
    return new_user("vera")


def token_of(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]


def recorded() -> list[tuple[str, dict[str, Any]]]:
    events = AuditEvent.objects.order_by("id")
    assert {event.actor for event in events} <= {"ada"}
    return list(events.values_list("action", "detail"))


class TestChanges:
    def test_of_a_user_are_recorded_with_who_made_them(self) -> None:
        new_user("root", role=User.Role.ADMIN)

        user = services.create_user(name="vera", role="viewer", **BY)
        services.set_role(user=user, role="editor", **BY)
        services.disable_user(user=user, **BY)
        services.enable_user(user=user, **BY)
        services.issue_sign_in_link(user=user, **BY)
        services.change_password(user=user, password=PASSWORD, **BY)

        assert recorded() == [
            ("user.create", {"user": "vera", "role": "viewer"}),
            ("user.set_role", {"user": "vera", "old": "viewer", "new": "editor"}),
            ("user.disable", {"user": "vera"}),
            ("user.enable", {"user": "vera"}),
            ("user.link", {"user": "vera"}),
            ("user.set_password", {"user": "vera"}),
        ]

    def test_of_appearance_are_recorded_field_by_field(self) -> None:
        user = vera()

        for _ in range(2):
            services.set_appearance(user=user, theme="DARK", time_zone="UTC", **BY)

        detail = {"user": "vera", "old": "as the system", "new": "dark"}
        assert recorded() == [("user.set_theme", detail)]

    def test_of_api_keys_are_recorded_without_the_key(self) -> None:
        issued = services.issue_api_key(user=vera(), name="nightly", **BY)
        services.revoke_api_key(key=issued.key, **BY)
        services.revoke_api_key(key=issued.key, **BY)

        detail = {"user": "vera", "label": "nightly", "prefix": issued.key.prefix}
        made = {**detail, "scopes": ["read", "write", "share"], "expires_at": None}
        assert recorded() == [("key.issue", made), ("key.revoke", detail)]
        assert issued.secret not in str(list(AuditEvent.objects.values()))

    def test_that_are_refused_leave_no_record(self) -> None:
        user = vera()

        with pytest.raises(errors.UserNameTakenError):
            services.create_user(name="VERA", role="viewer", **BY)
        with pytest.raises(errors.LastAdminError):
            services.disable_user(user=User.objects.get(username="root"), **BY)
        with pytest.raises(errors.UserInvalidError):
            services.change_password(user=user, password="x", **BY)

        assert recorded() == []


class TestSignIn:
    def attempts(self) -> list[tuple[str, str, int, str]]:
        events = AuditEvent.objects.filter(action="sign_in").order_by("id")
        assert {event.address for event in events} <= {"198.51.100.9"}
        return [
            (event.actor, event.detail["by"], event.status, event.error_code)
            for event in events
        ]

    def test_by_password_is_recorded_as_the_user_s(self, rf: RequestFactory) -> None:
        user = services.create_user(name="vera", role="viewer", password=PASSWORD, **BY)

        services.sign_in(
            rf.post("/"), name="VERA", password=PASSWORD, stamp=BY_STRANGER
        )

        assert self.attempts() == [("vera", "password", 200, "")]
        assert AuditEvent.objects.latest("id").actor_id == user.pk

    @cases(
        "name, actor",
        {
            "a wrong password": ("vera", "vera"),
            "a password in the wrong field": ("hunter2!", "unknown"),
        },
    )
    def test_that_failed_is_recorded_by_the_account_alone(self, rf, name, actor):
        vera()

        with pytest.raises(errors.SignInError):
            services.sign_in(
                rf.post("/"), name=name, password="secret", stamp=BY_STRANGER
            )

        assert self.attempts() == [(actor, "password", 403, "sign-in-failed")]
        record = str(list(AuditEvent.objects.values()))
        assert "hunter2!" not in record
        assert "secret" not in record

    def test_by_link_is_recorded_and_so_is_a_second_use(self) -> None:
        user = vera()
        token = token_of(services.issue_sign_in_link(user=user, **BY))

        assert services.use_sign_in_link(token=token, stamp=BY_STRANGER) == user
        with pytest.raises(errors.SignInLinkUsedError):
            services.use_sign_in_link(token=token, stamp=BY_STRANGER)

        assert self.attempts() == [
            ("vera", "link", 200, ""),
            ("vera", "link", 410, "link-used"),
        ]
        assert token not in str(list(AuditEvent.objects.values()))

    def test_by_a_late_link_is_recorded(self) -> None:
        token = token_of(services.issue_sign_in_link(user=vera(), **BY))
        late = Stamp(STRANGER, NOW + timedelta(minutes=15))

        with pytest.raises(errors.SignInLinkExpiredError):
            services.use_sign_in_link(token=token, stamp=late)

        assert self.attempts() == [("vera", "link", 410, "link-expired")]

    @pytest.mark.parametrize("token", ["x" * 43, "\udc80 nonsense"])
    def test_by_a_link_that_was_never_issued_leaves_no_record(self, token: str) -> None:
        with pytest.raises(errors.SignInLinkInvalidError):
            services.use_sign_in_link(token=token, stamp=BY_STRANGER)

        assert self.attempts() == []
