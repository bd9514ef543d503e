"""Local accounts beside single sign-on, and without it."""

from typing import Final

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts import services
from apps.accounts.errors import (
    LastAdminError,
    LocalAccountsOffError,
    UserOfProviderError,
)
from apps.accounts.models import User
from apps.pages.actions import command_stamp
from tests.support.pages.factories import new_api_key, new_user, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.database]
PASSWORD: Final = "a long enough phrase"
SEEN: Final = {"signed_on_at": timezone.now()}


@pytest.fixture(params=["keys", "false"])
def off(request: pytest.FixtureRequest, settings: Settings) -> None:
    settings.LOCAL_ACCOUNTS = request.param
    settings.HAS_SIGN_ON = True


class TestAnAccountOfAProvider:
    def test_has_no_password_and_no_link(self) -> None:
        user = new_user("ann", **SEEN)
        with pytest.raises(UserOfProviderError):
            services.change_password(
                user=user, password=PASSWORD, stamp=command_stamp()
            )
        with pytest.raises(UserOfProviderError):
            services.issue_sign_in_link(user=user, stamp=command_stamp())

    def test_loses_the_password_and_the_link_of_before(self) -> None:
        user = new_user("ann")
        services.change_password(user=user, password=PASSWORD, stamp=command_stamp())
        url = services.issue_sign_in_link(user=user, stamp=command_stamp())
        User.objects.update(**SEEN)
        browser = Client()
        sent = {"name": "ann", "password": PASSWORD}
        assert browser.post("/sign-in/", sent).status_code == 403
        path = url.partition("/sign-in/")[2]
        assert browser.post(f"/sign-in/{path}").status_code == 409


@pytest.mark.usefixtures("off")
class TestWhereLocalAccountsAreOff:
    def test_no_password_works(self) -> None:
        user = new_user("admin", role=User.Role.ADMIN)
        user.set_password(PASSWORD)
        user.save()
        sent = {"name": "admin", "password": PASSWORD}
        answer = Client().post("/sign-in/", sent)
        assert answer.status_code == 403
        assert "switched off" in answer.content.decode()

    def test_a_session_of_before_ends(self) -> None:
        new_user("first", role=User.Role.ADMIN)
        assert signed_in("ann").get("/me.json").status_code == 401
        assert signed_in("ben", **SEEN).get("/me.json").status_code == 200

    def test_the_oldest_local_administrator_keeps_a_link(self) -> None:
        new_user("far", role=User.Role.ADMIN, **SEEN)
        admin = new_user("admin", role=User.Role.ADMIN)
        other = new_user("other", role=User.Role.ADMIN)
        url = services.issue_sign_in_link(user=admin, stamp=command_stamp())
        browser = Client()
        browser.post(f"/sign-in/{url.partition('/sign-in/')[2]}")
        assert browser.get("/me.json").json()["name"] == "admin"
        with pytest.raises(LocalAccountsOffError):
            services.issue_sign_in_link(user=other, stamp=command_stamp())

    def test_the_last_local_administrator_stays(self) -> None:
        new_user("far", role=User.Role.ADMIN, **SEEN)
        admin = new_user("admin", role=User.Role.ADMIN)
        with pytest.raises(LastAdminError):
            services.disable_user(user=admin, stamp=command_stamp())

    def test_a_start_makes_a_local_administrator(self) -> None:
        new_user("far", role=User.Role.ADMIN, **SEEN)
        assert services.first_admin(stamp=command_stamp()).username == "admin"


@pytest.mark.parametrize(("mode", "status"), [("keys", 200), ("false", 401)])
def test_keys_of_local_accounts_are_a_setting(
    settings: Settings, mode: str, status: int
) -> None:
    key = new_api_key(new_user("robot"))
    settings.LOCAL_ACCOUNTS = mode
    assert Client().get("/me.json", headers=key).status_code == status
