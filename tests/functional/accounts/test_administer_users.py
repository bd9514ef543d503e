"""An administrator looks after users; users after their own account."""

import csv
import io
import re
from datetime import timedelta
from typing import get_args, get_type_hints

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone

from apps.accounts.models import APIKey, User
from apps.api.models import KeptAnswer
from apps.audit.models import AuditEvent
from apps.pages.changes.change import changes
from tests.support import cases
from tests.support.pages.factories import new_user, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return new_user("ada", role=User.Role.ADMIN)


@pytest.fixture
def admin(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


class TestTheListOfUsers:
    def test_has_three_forms(self, admin: Client) -> None:
        new_user("vera")

        page = admin.get("/admin-area/").content.decode()
        data = admin.get("/admin-area.json").json()
        answer = b"".join(admin.get("/admin-area.csv").streaming_content)  # type: ignore[attr-defined]  # a streamed answer

        assert "vera" in page
        assert [user["name"] for user in data["users"]] == ["ada", "vera"]
        assert data["count"] == 2
        rows = list(csv.reader(io.StringIO(answer.decode())))
        assert [row[:2] for row in rows] == [
            ["name", "role"],
            ["ada", "admin"],
            ["vera", "viewer"],
        ]

    @pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
    @pytest.mark.parametrize("path", ["/admin-area/", "/admin-area.json"])
    def test_is_for_administrators(self, role: User.Role, path: str) -> None:
        client = signed_in(role=role)

        response = client.get(path)

        assert response.status_code == 403
        assert "administrator" in response.content.decode()

    @pytest.mark.parametrize("action", ["role", "disable", "enable", "link"])
    def test_nobody_else_changes_anything(self, action: str) -> None:
        vera = new_user()
        client = Client()
        client.force_login(vera)

        path = f"/admin-area/users/{vera.id}/{action}"

        assert client.post(path, {"role": "ADMIN"}).status_code == 403
        vera.refresh_from_db()
        assert vera.role == User.Role.VIEWER


class TestAddingAUser:
    def test_shows_a_link_that_works(self, admin: Client) -> None:
        form = {"name": "vera", "role": "EDITOR"}

        page = admin.post("/admin-area/users", form).content.decode()

        found = re.search(r"http://[^\s<]+(/sign-in/[^\s<]+)", page)
        assert found is not None
        newcomer = Client()
        assert newcomer.post(found[1]).status_code == 302
        assert newcomer.get("/me.json").json()["role"] == "editor"

    @cases(
        "name, role, status, said",
        {
            "no name": ("", "VIEWER", 422, ""),
            "no role": ("vera", "OWNER", 422, ""),
            "taken": ("ADA", "VIEWER", 409, "exists already"),
        },
    )
    def test_says_what_will_not_do(self, admin, name, role, status, said) -> None:
        response = admin.post("/admin-area/users", {"name": name, "role": role})

        assert response.status_code == status
        assert said in response.content.decode()
        assert User.objects.count() == 1

    def test_takes_a_password_from_a_terminal_alone(self, admin: Client) -> None:
        new = {"name": "vera", "role": "VIEWER", "password": "a long enough phrase"}

        call = admin.post("/api/v1/users", new, content_type="application/json")
        page = admin.post("/admin-area/users", new)

        assert (call.status_code, page.status_code) == (400, 200)
        assert not User.objects.get(username="vera").has_usable_password()

    def test_says_above_the_list_why_it_was_refused(self, admin: Client) -> None:
        page = admin.post("/admin-area/users", {"name": "ADA", "role": "VIEWER"})

        assert "A user named &#x27;ADA&#x27; exists already." in page.content.decode()
        assert 'action="/admin-area/users"' in page.content.decode()


class TestASignInLink:
    def test_is_answered_once_and_kept_nowhere(self, admin: Client) -> None:
        new_user("vera")
        first, second = (
            admin.post(
                "/api/v1/users/vera/sign-in-links",
                headers={"Idempotency-Key": "one"},
            )
            for _ in range(2)
        )

        assert first.status_code == 201
        token = first.json()["url"].rstrip("/").rpartition("/")[2]
        assert second.status_code == 409
        for kept in (second.content.decode(), KeptAnswer.objects.get().body):
            assert token not in kept
        details = AuditEvent.objects.values_list("detail", flat=True)
        assert [*details.filter(action="user.link")] == [{"user": "vera"}]

    def test_is_on_a_page_that_no_cache_keeps(self, admin: Client) -> None:
        vera = new_user("vera")

        for answer in (
            admin.post(f"/admin-area/users/{vera.id}/link"),
            admin.post("/admin-area/users", {"name": "eve", "role": "VIEWER"}),
        ):
            assert answer["Cache-Control"] == "no-store"
            assert "/sign-in/" in answer.content.decode()
            assert not list(get_messages(answer.wsgi_request))


class TestChangingAUser:
    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"role": ""}, 422),
            ({"role": " "}, 422),
            ({"role": None}, 400),
            ({"active": None}, 400),
            ({"active": ""}, 400),
            ({"role": "admin", "name": "ada"}, 400),
            ({}, 200),
        ],
    )
    def test_a_call_changes_what_it_states_alone(self, admin, body, status) -> None:
        vera = new_user("vera", is_active=False)

        answer = admin.patch(
            "/api/v1/users/vera", body, content_type="application/json"
        )

        assert answer.status_code == status
        vera.refresh_from_db()
        assert (vera.role, vera.is_active) == (User.Role.VIEWER, False)

    def test_a_form_cannot_name_another_user(self, admin: Client, ada: User) -> None:
        vera = new_user("vera")
        names = {"name": "ada", "user_id": str(ada.id), "role": "VIEWER"}

        admin.post(f"/admin-area/users/{vera.id}/disable", names)

        ada.refresh_from_db()
        vera.refresh_from_db()
        assert (ada.is_active, vera.is_active) == (True, False)
        assert ada.role == User.Role.ADMIN

    def test_the_last_administrator_stays(self, admin: Client, ada: User) -> None:
        path = f"/admin-area/users/{ada.id}"

        answers = [
            admin.post(f"{path}/role", {"role": "VIEWER"}),
            admin.post(f"{path}/disable"),
            admin.patch(
                "/api/v1/users/ada", {"active": False}, content_type="application/json"
            ),
        ]

        assert {one.status_code for one in answers} == {409}
        ada.refresh_from_db()
        assert ada.is_admin
        assert ada.is_active

    def test_a_role_is_changed(self, admin: Client) -> None:
        vera = new_user("vera")

        path = f"/admin-area/users/{vera.id}/role"
        page = admin.post(path, {"role": "EDITOR"}, follow=True).content.decode()

        assert "vera is now editor" in page
        assert admin.post(path, {"role": "OWNER"}).status_code == 422
        vera.refresh_from_db()
        assert vera.role == User.Role.EDITOR

    def test_an_account_is_disabled_and_enabled(self, admin: Client) -> None:
        vera = new_user("vera")
        path = f"/admin-area/users/{vera.id}"

        page = admin.post(f"{path}/disable", follow=True).content.decode()
        assert "vera is disabled and signed out everywhere" in page
        assert admin.post(f"{path}/link").status_code == 409

        page = admin.post(f"{path}/enable", follow=True).content.decode()
        assert "vera can sign in again" in page
        assert "/sign-in/" in admin.post(f"{path}/link").content.decode()

    def test_an_unknown_one_is_a_404(self, admin: Client) -> None:
        assert admin.post("/admin-area/users/999999/disable").status_code == 404


class TestOnesOwnAccount:
    def test_a_key_is_shown_once(self, admin: Client) -> None:
        made = admin.post("/me/keys", {"name": "nightly"})

        assert made.status_code == 201
        assert made["Cache-Control"] == "no-store"
        found = re.search(r"dwk_[\w-]{43}", made.content.decode())
        assert found is not None
        assert found[0] not in admin.get("/me/").content.decode()
        headers = {"Authorization": f"Bearer {found[0]}"}
        assert Client().get("/me.json", headers=headers).json()["name"] == "ada"

    def test_a_key_of_someone_else_cannot_be_revoked(self, admin: Client) -> None:
        other = signed_in()
        other.post("/me/keys", {"name": "theirs"})
        key = APIKey.objects.get()

        assert admin.post(f"/me/keys/{key.id}/revoke").status_code == 404
        assert other.post(f"/me/keys/{key.id}/revoke").status_code == 302
        key.refresh_from_db()
        assert key.revoked_at is not None

    def test_a_key_is_answered_once_and_kept_nowhere(self, admin: Client) -> None:
        new_user("vera")

        for path in ("/api/v1/me/keys", "/api/v1/users/vera/keys"):
            first, second = (
                admin.post(
                    path,
                    {"label": "nightly"},
                    content_type="application/json",
                    headers={"Idempotency-Key": path},
                )
                for _ in range(2)
            )
            assert (first.status_code, second.status_code) == (201, 409)
            secret = first.json()["key"]
            assert secret not in second.content.decode()
            assert secret not in KeptAnswer.objects.get(key=path).body
            for event in AuditEvent.objects.filter(action="key.issue"):
                assert secret not in str(event.detail)

    @pytest.mark.usefixtures("admin")
    def test_a_key_is_for_who_asks_and_nobody_else(self) -> None:
        vera = signed_in()
        names = {"caller": "ada", "user": "ada", "user_id": "1"}

        page = vera.post("/me/keys", {"name": "mine", **names})
        calls = [
            vera.post("/api/v1/me/keys", {name: "ada"}, content_type="application/json")
            for name in names
        ]

        assert page.status_code == 201
        assert {one.status_code for one in calls} == {400}
        assert APIKey.objects.get().user.username != "ada"

    @pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
    def test_no_call_reaches_the_keys_of_another_user(self, admin, role) -> None:
        admin.post("/me/keys", {"name": "hers"})
        key = APIKey.objects.get()
        other = signed_in(role=role)

        answers = [
            other.delete(f"/api/v1/me/keys/{key.id}"),
            other.delete(f"/api/v1/users/ada/keys/{key.id}"),
            other.post("/api/v1/users/ada/keys", {}, content_type="application/json"),
            other.post(f"/me/keys/{key.id}/revoke", {"caller": "ada"}),
        ]

        assert [one.status_code for one in answers] == [404, 403, 403, 404]
        key = APIKey.objects.get()
        assert key.revoked_at is None

    def test_a_key_is_revoked_by_its_own_user_alone(self, admin: Client) -> None:
        new_user("vera")
        admin.post("/me/keys", {"name": "hers"})
        key = APIKey.objects.get()

        wrong = admin.delete(f"/api/v1/users/vera/keys/{key.id}")
        right = admin.delete(f"/api/v1/users/ada/keys/{key.id}")

        assert (wrong.status_code, right.status_code) == (404, 204)
        assert wrong.json()["error"] == "api-key-not-found"

    @pytest.mark.parametrize("sent", [[], ["read"]])
    def test_a_key_that_names_no_scope_reads_alone(self, admin: Client, sent) -> None:
        body = {"label": "x", "scopes": sent}

        call = admin.post("/api/v1/me/keys", body, content_type="application/json")
        admin.post("/me/keys", {"name": "x", "scopes": ["", *sent]})

        assert call.json()["scopes"] == ["read"]
        assert [one.scopes for one in APIKey.objects.all()] == [["read"], ["read"]]

    @pytest.mark.parametrize(
        ("form", "said"),
        [
            ({"name": ""}, "This field is required."),
            ({"name": "x", "scopes": "all"}, "is not one of the available choices"),
            ({"name": "x", "expires": "soon"}, "neither a span of time nor a date"),
        ],
    )
    def test_a_wrong_key_is_refused_beside_its_field(self, admin, form, said) -> None:
        answer = admin.post("/me/keys", form)

        assert answer.status_code == 422
        assert '<small class="dw-form-error">' in answer.content.decode()
        assert said in answer.content.decode()
        assert not APIKey.objects.exists()

    @pytest.mark.parametrize("scopes", [[""], ["read", ""], ["admin ", "all"], None])
    def test_a_call_with_a_blank_scope_is_refused(self, admin, scopes) -> None:
        body = {"label": "x", "scopes": scopes}

        answer = admin.post("/api/v1/me/keys", body, content_type="application/json")

        assert answer.status_code in {400, 422}
        assert not APIKey.objects.exists()

    def test_the_theme_is_in_the_page(self, admin: Client) -> None:
        form = {"theme": "DARK", "time_zone": "Asia/Tokyo"}
        admin.post("/me/appearance", form)

        page = admin.get("/me/").content.decode()

        assert 'data-bs-theme="dark"' in page
        assert "JST" in page

    def test_the_themes_are_those_that_pages_know(self) -> None:
        (made,) = (one for one in changes.of("me") if one.name == "appearance")
        hint = get_type_hints(made.parameters)["theme"]
        (words,) = (get_args(one) for one in get_args(hint) if get_args(one))

        assert words == tuple(map(str.lower, User.Theme.values))

    @pytest.mark.parametrize(
        ("form", "said"),
        [
            ({"time_zone": "Asia/Tokyo"}, 422),
            ({"theme": "DARK"}, 422),
            ({"theme": "", "time_zone": "Asia/Tokyo"}, 422),
            ({"theme": "PINK", "time_zone": "Asia/Tokyo"}, 422),
            ({"theme": "DARK", "time_zone": " "}, 422),
            ({"theme": "dark", "time_zone": "Asia/Tokyo", "caller": "eve"}, 302),
        ],
    )
    def test_a_form_states_both_and_names_nobody(self, admin, form, said) -> None:
        eve = new_user("eve")

        assert admin.post("/me/appearance", form).status_code == said
        eve.refresh_from_db()
        assert (eve.theme, eve.time_zone) == (User.Theme.SYSTEM, "UTC")
        ada = User.objects.get(username="ada")
        expected = ("DARK", "Asia/Tokyo") if said == 302 else ("SYSTEM", "UTC")
        assert (ada.theme, ada.time_zone) == expected

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({}, 200),
            ({"theme": "pink"}, 400),
            ({"theme": None}, 400),
            ({"theme": ""}, 400),
            ({"time_zone": None}, 400),
            ({"time_zone": ""}, 422),
            ({"time_zone": "+05:30"}, 422),
            ({"name": "eve"}, 400),
        ],
    )
    def test_a_call_that_states_nothing_valid_changes_nothing(
        self, admin, body, status
    ) -> None:
        answer = admin.patch("/api/v1/me", body, content_type="application/json")

        assert answer.status_code == status
        ada = User.objects.get(username="ada")
        assert (ada.theme, ada.time_zone) == (User.Theme.SYSTEM, "UTC")

    @pytest.mark.parametrize(
        ("zone", "said"),
        [
            ("../../etc/passwd", "Give one such as Europe/Berlin."),
            ("New York", "Did you mean America/New_York?"),
            pytest.param("+05:30", "Give one such as", id="none of Django's"),
        ],
    )
    def test_an_unknown_time_zone_is_refused_beside_its_field(self, admin, zone, said):
        form = {"theme": "DARK", "time_zone": zone}

        response = admin.post("/me/appearance", form)

        assert response.status_code == 422
        assert "is not a time zone" in response.content.decode()
        assert said in response.content.decode()

    @cases(
        "new, again, said",
        {
            "a short one": ("short", "short", "too short"),
            "a slip": ("long enough one", "another one", "differ"),
        },
    )
    def test_a_password_that_will_not_do_is_refused(self, admin, new, again, said):
        response = admin.post("/me/password", {"new": new, "again": again})

        assert response.status_code == 422
        assert said in response.content.decode()


def test_last_seen_is_when_somebody_opened_a_page(client: Client) -> None:
    admin = new_user("ada", role=User.Role.ADMIN)
    long_ago = timezone.now() - timedelta(days=40)
    vera = new_user("vera", last_login=long_ago, last_seen_at=long_ago)
    client.force_login(vera)
    User.objects.filter(id=vera.id).update(last_login=long_ago)

    client.get("/")
    client.force_login(admin)
    listed = client.get("/admin-area.json").json()["users"]

    (row,) = (one for one in listed if one["name"] == "vera")
    assert row["last_seen_at"] > (timezone.now() - timedelta(minutes=1)).isoformat()
    assert row["last_sign_in_at"] < row["last_seen_at"]
