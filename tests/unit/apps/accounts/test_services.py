from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection

from apps.accounts import errors, services
from apps.accounts.models import APIKey, SignInLink, User
from apps.accounts.tokens import sha256
from apps.pages.actions import COMMAND_LINE, Stamp
from tests.support import cases
from tests.support.pages.factories import new_user

pytestmark = pytest.mark.database

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
STAMP = Stamp(COMMAND_LINE, NOW)
PASSWORD = "a long enough phrase"
ADMIN = User.Role.ADMIN


def token_of(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]


@pytest.mark.django_db
class TestCreateUser:
    def test_makes_a_user_who_signs_in_by_links(self) -> None:
        user = services.create_user(name="vera", role="viewer", stamp=STAMP)

        assert user.role == User.Role.VIEWER
        assert not user.has_usable_password()

    def test_sets_a_password(self) -> None:
        user = services.create_user(
            name="vera", role="EDITOR", password=PASSWORD, stamp=STAMP
        )

        assert user.check_password(PASSWORD)

    def test_names_are_the_same_in_any_capitals(self) -> None:
        services.create_user(name="vera", role="viewer", stamp=STAMP)

        with pytest.raises(errors.UserNameTakenError, match="'Vera' exists already"):
            services.create_user(name="Vera", role="viewer", stamp=STAMP)

    @cases(
        "name, role, password",
        {
            "no name": ("", "viewer", None),
            "a space in the name": ("a b", "viewer", None),
            "a long name": ("a" * 151, "viewer", None),
            "an unknown role": ("vera", "owner", None),
            "a short password": ("vera", "viewer", "short"),
        },
    )
    def test_refuses_what_will_not_do(self, name: str, role: str, password: str | None):
        with pytest.raises(errors.UserInvalidError):
            services.create_user(name=name, role=role, password=password, stamp=STAMP)

        assert not User.objects.exists()


@pytest.mark.django_db
class TestTheLastAdministrator:
    def test_cannot_be_demoted(self) -> None:
        admin = new_user("ada", role=ADMIN)

        with pytest.raises(errors.LastAdminError):
            services.set_role(user=admin, role="editor", stamp=STAMP)

        admin.refresh_from_db()
        assert admin.role == ADMIN

    def test_cannot_be_disabled(self) -> None:
        admin = new_user("ada", role=ADMIN)
        new_user("disabled", role=ADMIN, is_active=False)

        with pytest.raises(errors.LastAdminError):
            services.disable_user(user=admin, stamp=STAMP)

    def test_with_another_one_either_may_go(self) -> None:
        ada, bob = new_user("ada", role=ADMIN), new_user("bob", role=ADMIN)

        services.set_role(user=ada, role="viewer", stamp=STAMP)

        assert list(User.objects.active_admins()) == [bob]

    def test_a_viewer_may_be_disabled_while_there_is_one(self) -> None:
        new_user("ada", role=ADMIN)

        assert not services.disable_user(user=new_user("vera"), stamp=STAMP).is_active


@pytest.mark.django_db
class TestSignInLinks:
    def test_only_its_hash_is_kept(self) -> None:
        token = token_of(services.issue_sign_in_link(user=new_user(), stamp=STAMP))

        link = SignInLink.objects.get()
        assert link.token_sha256 == sha256(token)
        assert token not in str(link.__dict__)

    def test_it_is_worthless_once_the_account_is_disabled(self) -> None:
        new_user("ada", role=ADMIN)
        user = new_user()
        token = token_of(services.issue_sign_in_link(user=user, stamp=STAMP))
        services.disable_user(user=user, stamp=STAMP)

        with pytest.raises(errors.SignInLinkInvalidError):
            services.use_sign_in_link(token=token, stamp=STAMP)

    def test_a_disabled_account_gets_none(self) -> None:
        with pytest.raises(errors.UserDisabledError):
            services.issue_sign_in_link(user=new_user(is_active=False), stamp=STAMP)


@pytest.mark.django_db(transaction=True)
def test_of_two_requests_at_once_one_spends_the_link() -> None:
    token = token_of(services.issue_sign_in_link(user=new_user(), stamp=STAMP))
    barrier = Barrier(2)

    def spend() -> bool:
        barrier.wait()
        try:
            services.use_sign_in_link(token=token, stamp=STAMP)
        except errors.SignInLinkUsedError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        outcomes = [pool.submit(spend), pool.submit(spend)]

    assert sorted(outcome.result() for outcome in outcomes) == [False, True]


@pytest.mark.django_db
class TestAPIKeys:
    def test_only_the_hash_and_a_prefix_are_kept(self) -> None:
        issued = services.issue_api_key(user=new_user(), name="nightly", stamp=STAMP)

        kept = APIKey.objects.get()
        assert issued.secret.startswith(kept.prefix)
        assert issued.secret not in str(kept.__dict__)
        assert kept.key_sha256 == sha256(issued.secret)

    def test_revoking_twice_keeps_the_first_time(self) -> None:
        key = services.issue_api_key(user=new_user(), name="nightly", stamp=STAMP).key
        services.revoke_api_key(key=key, stamp=STAMP)

        services.revoke_api_key(
            key=key, stamp=Stamp(COMMAND_LINE, NOW + timedelta(hours=1))
        )

        key.refresh_from_db()
        assert key.revoked_at == NOW


@pytest.mark.django_db(transaction=True)
def test_no_password_is_hashed_while_the_database_is_locked(monkeypatch):
    locked: list[bool] = []
    encode = MD5PasswordHasher.encode

    def watched(hasher: MD5PasswordHasher, password: str, salt: str) -> str:
        locked.append(connection.in_atomic_block)
        return encode(hasher, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", watched)

    user = services.create_user(
        name="vera", role="viewer", password=PASSWORD, stamp=STAMP
    )
    services.change_password(user=user, password=f"{PASSWORD} again", stamp=STAMP)

    assert locked == [False, False]


@pytest.mark.django_db
class TestChangePassword:
    def test_leaves_keys_where_nothing_else_is_wanted(self) -> None:
        user = new_user()
        services.issue_api_key(user=user, name="a", stamp=STAMP)

        services.change_password(user=user, password=PASSWORD, stamp=STAMP)

        assert APIKey.objects.get().revoked_at is None

    def test_ends_links_that_were_not_used(self) -> None:
        user = new_user()
        token = token_of(services.issue_sign_in_link(user=user, stamp=STAMP))

        services.change_password(user=user, password=PASSWORD, stamp=STAMP)

        with pytest.raises(errors.SignInLinkInvalidError):
            services.use_sign_in_link(token=token, stamp=STAMP)


@pytest.mark.django_db
class TestFirstAdmin:
    def test_a_new_installation_gets_one(self) -> None:
        assert services.first_admin(stamp=STAMP).username == "admin"
        assert services.first_admin(stamp=STAMP) == User.objects.get()

    def test_a_name_that_is_taken_is_left_alone(self) -> None:
        new_user("Admin")

        assert services.first_admin(stamp=STAMP).username == "admin2"

    def test_the_oldest_active_one_is_taken(self) -> None:
        new_user("gone", role=ADMIN, is_active=False)
        ada = new_user("ada", role=ADMIN)
        new_user("bob", role=ADMIN)

        assert services.first_admin(stamp=STAMP) == ada
