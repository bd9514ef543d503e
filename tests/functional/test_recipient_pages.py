"""An administrator looks after recipients: who reads what, from where, until when."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.sharing.models import Recipient
from tests.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_token,
    new_user,
)

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
NASTY = "<script>alert(1)&\"'x"
NASTY_PATH = "/recipients/%3Cscript%3Ealert(1)%26%22%27x/"


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(new_user("ada", role=User.Role.ADMIN))
    return client


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content
    return " ".join(answer.content.decode().split())


class TestTheList:
    def test_has_three_forms(self, admin: Client) -> None:
        acme = new_recipient(contact="data@acme.example")
        new_grant(new_share(), acme)
        new_token(acme, expires_at=timezone.now() + 5 * DAY)
        new_recipient("initech")

        text = page(admin, "/recipients/")
        data = admin.get("/recipients.json").json()
        answer = b"".join(admin.get("/recipients.csv").streaming_content)  # type: ignore[attr-defined]  # a streamed answer

        assert "data@acme.example" in text
        assert "expires in 5 d" in text
        assert "no token" in text
        assert data["count"] == 2
        assert [row["name"] for row in data["recipients"]] == ["acme", "initech"]
        assert data["recipients"][0]["state"] == "expiring"
        assert len(data["recipients"][0]["requests_30d"]) == 30
        rows = list(csv.reader(io.StringIO(answer.decode())))
        assert [row[0] for row in rows] == ["name", "acme", "initech"]

    def test_says_whether_there_are_none_or_none_that_match(
        self, admin: Client
    ) -> None:
        assert "No recipients yet" in page(admin, "/recipients/")
        new_recipient()

        assert "No recipient matches this filter" in page(admin, "/recipients/?q=zzz")
        assert admin.get("/recipients.json?state=active").json()["count"] == 0

    def test_goes_on_at_the_next_page(self, admin: Client) -> None:
        for number in range(51):
            new_recipient(f"r{number:02}")

        first = admin.get("/recipients.json").json()

        assert len(first["recipients"]) == 50
        assert admin.get(first["next"]).json()["recipients"][0]["name"] == "r50"

    @pytest.mark.parametrize("query", ["state=odd", "sort=odd", "page=0", "page=x"])
    def test_an_odd_address_is_a_400(self, admin: Client, query: str) -> None:
        assert admin.get(f"/recipients/?{query}").status_code == 400


class TestRoles:
    @pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
    @pytest.mark.parametrize(
        "path",
        [
            "",
            "new",
            "acme/",
            "acme.json",
            "acme/grants",
            "acme/settings",
            "acme/delete",
            "acme/tokens/new",
            "acme/tokens/rotate",
        ],
    )
    def test_only_administrators_come_here(self, role: User.Role, path: str) -> None:
        new_recipient()
        client = Client()
        client.force_login(new_user(role=role))

        assert client.get(f"/recipients/{path}").status_code == 403
        assert client.post(f"/recipients/{path}").status_code == 403

    @pytest.mark.parametrize("action", ["link", "profile", "revoke", "retire"])
    def test_only_they_touch_a_token(self, action: str) -> None:
        token, _ = new_token()
        client = Client()
        client.force_login(new_user())

        path = f"/recipients/acme/tokens/{token.id}/{action}"

        assert client.post(path, {"sure": "yes"}).status_code == 403
        token.refresh_from_db()
        assert token.revoked_at is None

    def test_forms_need_the_csrf_token(self) -> None:
        new_recipient()
        client = Client(enforce_csrf_checks=True)
        client.force_login(new_user("ada", role=User.Role.ADMIN))

        for path in ("new", "acme/delete", "acme/tokens/new", "acme/settings"):
            assert client.post(f"/recipients/{path}").status_code == 403
        assert Recipient.objects.count() == 1

    def test_nobody_is_asked_to_sign_in_first(self) -> None:
        assert Client().get("/recipients/").status_code == 302
        assert Client().get("/recipients.json").status_code == 401


class TestOneRecipient:
    def test_shows_grants_tokens_and_activity(self, admin: Client) -> None:
        acme = new_recipient(
            contact="data@acme.example", allowed_networks=["10.1.4.0/24"]
        )
        retail = new_share("retail")
        new_shared_table(retail, "sales.orders", partition_filter="country = 'DE'")
        new_shared_table(retail, "ref.products", with_history=False)
        new_shared_table(retail, "ml.weekly", start_version=88)
        new_grant(retail, acme)
        new_grant(new_share("empty"), acme)
        now = timezone.now()
        token, secret = new_token(
            acme,
            created_by_name="ada",
            expires_at=now + 81 * DAY,
            last_used_at=now,
            last_used_from="10.1.4.9",
            last_used_agent="Delta-Sharing-Python/1.4.2 pandas/2",
        )
        AuditEvent.objects.create(
            at=now,
            kind=AuditEvent.Kind.CALL,
            action="table.query",
            recipient="acme",
            recipient_id=acme.id,
            share="retail",
            schema="sales",
            table="orders",
            version=412,
            num_files=31,
            size_bytes=2**20,
        )

        text = page(admin, "/recipients/ACME/")

        assert "3 tables in 2 shares" in text
        assert "10.1.4.0/24" in text
        assert "country = &#x27;DE&#x27;" in text
        assert "latest only" in text
        assert "from v88" in text
        assert "a share without tables yet" in text
        assert f"{token.prefix}…" in text
        assert "Delta-Sharing-Python 1.4.2 from 10.1.4.9" in text
        assert "in 81 d" in text
        assert "v412" in text
        assert 'href="/activity/?recipient=acme"' in text
        assert secret not in text
        assert 'id="rotation"' not in text

    def test_has_a_json_form_without_secrets(self, admin: Client) -> None:
        acme = new_recipient()
        retail = new_share("retail")
        new_shared_table(retail, "sales.orders", partition_filter="country = 'DE'")
        new_grant(retail, acme)
        token, secret = new_token(acme)

        answer = admin.get("/recipients/acme.json")
        data = answer.json()

        assert data["state"] == "active"
        assert data["rotation"] is None
        assert data["tokens"][0]["prefix"] == token.prefix
        assert data["grants"] == [
            {
                "share": "retail",
                "table": "sales.orders",
                "with_history": True,
                "start_version": None,
                "partition_filter": "country = 'DE'",
            }
        ]
        text = answer.content.decode()
        assert secret not in text
        assert str(token.token_sha256) not in text

    def test_an_unknown_one_is_a_404(self, admin: Client) -> None:
        assert admin.get("/recipients/nobody/").status_code == 404
        assert admin.get("/recipients/nobody.json").json()["error"] == (
            "recipient-not-found"
        )

    def test_names_and_comments_are_text(self, admin: Client) -> None:
        nasty = new_recipient(NASTY, comment="<img src=x onerror=alert(1)>")
        new_token(nasty, last_used_agent="<b>x</b>/1", last_used_at=timezone.now())

        for path in (
            "/recipients/",
            NASTY_PATH,
            f"{NASTY_PATH}settings",
            f"{NASTY_PATH}grants",
            f"{NASTY_PATH}tokens/new",
            f"{NASTY_PATH}tokens/rotate",
        ):
            text = page(admin, path)
            assert "alert(1)" in text
            assert "<script>alert" not in text
            assert "<img" not in text
            assert "<b>x" not in text

    def test_an_empty_one_says_what_to_do(self, admin: Client) -> None:
        new_recipient()

        text = page(admin, "/recipients/acme/")

        assert "No tokens yet" in text
        assert "Nothing is granted to acme yet" in text
        assert "Nothing has happened yet" in text


class TestTheSafetyLight:
    """Each state in words; the states themselves are tested one by one elsewhere."""

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            pytest.param(
                {"last_used_at": timedelta(minutes=2)},
                {},
                [
                    "Red: not safe",
                    "Not safe to revoke",
                    "1 request today",
                    "after 7 days without a request",
                    "Both tokens in use",
                ],
                id="red, in use",
            ),
            pytest.param(
                {"last_used_at": 3 * DAY},
                {},
                ["Amber: wait", "is quiet", "turns green in 4 d", "monthly job"],
                id="amber, quiet",
            ),
            pytest.param(
                {"last_used_at": 9 * DAY},
                {"last_used_at": timezone.now()},
                ["Green: safe", "Safe to revoke", "The new token has taken over"],
                id="green, silent",
            ),
            pytest.param(
                {"last_used_at": 9 * DAY},
                {},
                ["Safe to revoke", "has not been used yet"],
                id="green, the new one unused",
            ),
            pytest.param(
                {"last_used_at": 9 * DAY},
                {"token_sha256": None, "activated_at": None},
                ["Amber: wait", "has not been activated", "waits for the recipient"],
                id="the new one not activated",
            ),
            pytest.param(
                {"last_used_at": timedelta(hours=2)},
                {"revoked_at": timezone.now()},
                ["Red: not safe", "No newer token is there"],
                id="the new one gone",
            ),
            pytest.param(
                {}, {}, ["Safe to revoke", "never used since"], id="never used"
            ),
        ],
    )
    def test_says_why_in_words(
        self,
        admin: Client,
        old: dict[str, timedelta],
        new: dict[str, object],
        said: list[str],
    ) -> None:
        now = timezone.now()
        acme = new_recipient()
        successor, _ = new_token(
            acme, created_at=now - DAY, **({"activated_at": now - DAY} | new)
        )
        retiring, _ = new_token(
            acme,
            created_at=now - 30 * DAY,
            activated_at=now - 30 * DAY,
            retires_at=now + 5 * DAY,
            replaced_by=successor,
            last_used_from="10.1.4.7",
            **{name: now - ago for name, ago in old.items()},
        )
        AuditEvent.objects.create(
            at=now, kind=AuditEvent.Kind.CALL, action="x", token_id=retiring.id
        )

        text = page(admin, "/recipients/acme/")
        data = admin.get("/recipients/acme.json").json()["rotation"]

        for words in [*said, retiring.prefix, "Requests a day"]:
            assert words in text
        assert data["old"] == retiring.prefix
        assert data["requests_old"][-1] == 1
        assert len(data["days"]) == 14


class TestMakingOne:
    FORM = {
        "name": "globex",
        "contact": "data@globex.example",
        "comment": "contract 4711",
        "shares": ["retail"],
        "networks": "10.1.4.0/24\n192.0.2.7",
        "lifetime": "30d",
    }

    def test_grants_it_shares_and_shows_its_link(self, admin: Client) -> None:
        new_share("retail")
        new_share("secret")

        made = admin.post("/recipients/new", self.FORM)

        assert made.status_code == 201
        assert made["Cache-Control"] == "no-store"
        assert "/activate/" in made.content.decode()
        globex = Recipient.objects.get()
        assert [share.name for share in globex.shares.all()] == ["retail"]
        assert globex.allowed_networks == ["10.1.4.0/24", "192.0.2.7/32"]
        token = globex.tokens.get()
        assert (token.expires_at - token.created_at).days == 30
        assert token.created_by_name == "ada"

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            pytest.param({"name": ""}, "Give it a name", id="no name"),
            pytest.param({"name": "a/b"}, "cannot be the name", id="an odd name"),
            pytest.param({"name": "ACME"}, "exists already", id="a name that is taken"),
            pytest.param({"contact": "nobody"}, "not a mail address", id="a contact"),
            pytest.param({"networks": "10.1.4.7/24"}, "bits set", id="a network"),
            pytest.param({"lifetime": "custom"}, "Write 45d", id="no lifetime"),
            pytest.param(
                {"lifetime": "custom", "until": "9999d"}, "365 days", id="a long life"
            ),
            pytest.param(
                {"lifetime": "custom", "until": "2001-01-01"}, "in the past", id="over"
            ),
            pytest.param({"shares": ["secret"]}, "not one of", id="an unknown share"),
        ],
    )
    def test_says_what_will_not_do_and_makes_nothing(
        self, admin: Client, changed: dict[str, object], said: str
    ) -> None:
        new_share("retail")
        new_recipient("acme")

        answer = admin.post("/recipients/new", self.FORM | changed)

        assert answer.status_code == 422
        text = answer.content.decode()
        assert said in text
        assert "contract 4711" in text
        assert Recipient.objects.count() == 1
        assert not AuditEvent.objects.exists()


class TestChangingOne:
    def test_its_grants_are_set_as_a_whole(self, admin: Client) -> None:
        acme = new_recipient()
        new_grant(new_share("old"), acme)
        new_share("new")

        text = page(admin, "/recipients/acme/grants")
        done = admin.post("/recipients/acme/grants", {"shares": ["new"]}, follow=True)

        assert 'value="old" checked' in text
        assert "1 added, 1 taken away" in done.content.decode()
        assert [share.name for share in acme.shares.all()] == ["new"]
        actions = AuditEvent.objects.values_list("action", flat=True)
        assert set(actions) == {"grant.add", "grant.remove"}
        assert (
            admin.post("/recipients/acme/grants", {"shares": ["x"]}).status_code == 422
        )

    def test_contact_and_allow_list_are_saved(self, admin: Client) -> None:
        new_recipient()
        form = {"contact": "a@b.example", "comment": "x", "networks": "10.0.0.0/8"}

        done = admin.post("/recipients/acme/settings", form, follow=True)

        assert "Saved" in done.content.decode()
        assert admin.get("/recipients/acme/settings.json").json() == {
            "recipient": "acme",
            "contact": "a@b.example",
            "comment": "x",
            "allowed_networks": ["10.0.0.0/8"],
        }

    def test_a_network_that_is_none_is_refused_beside_its_field(
        self, admin: Client
    ) -> None:
        new_recipient()

        answer = admin.post("/recipients/acme/settings", {"networks": "everywhere"})

        assert answer.status_code == 422
        assert "everywhere" in answer.content.decode()
        assert Recipient.objects.get().allowed_networks == []

    def test_a_text_that_is_too_long_is_refused(self, admin: Client) -> None:
        new_recipient()

        answer = admin.post("/recipients/acme/settings", {"comment": "x" * 10_001})

        assert answer.status_code == 422
        assert Recipient.objects.get().comment == ""

    def test_it_is_deleted_once_its_name_is_typed(self, admin: Client) -> None:
        acme = new_recipient()
        new_token(acme)

        slip = admin.post("/recipients/acme/delete", {"confirm": "acne"})
        assert slip.status_code == 422
        assert 'action="/recipients/acme/settings"' in slip.content.decode()
        assert admin.post("/recipients/acme/delete").status_code == 422
        assert Recipient.objects.exists()
        done = admin.post("/recipients/acme/delete", {"confirm": "acme"}, follow=True)

        assert "acme is deleted" in done.content.decode()
        assert not Recipient.objects.exists()
        assert admin.get("/recipients/acme/delete").status_code == 405
