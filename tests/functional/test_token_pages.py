"""Tokens: issued, handed over by a link that is shown once, rotated, ended."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.sharing.models import ActivationLink, Recipient, RecipientToken
from tests.factories import new_recipient, new_token, new_user

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
NEW = "/recipients/acme/tokens/new"
ROTATE = "/recipients/acme/tokens/rotate"


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(new_user("ada", role=User.Role.ADMIN))
    return client


@pytest.fixture
def acme() -> Recipient:
    return new_recipient()


def nonce_in(text: str) -> str:
    found = re.search(r"/activate/([\w-]{43})\b", text)
    assert found is not None
    return found[1]


def waiting(acme: Recipient) -> RecipientToken:
    now = timezone.now()
    return new_token(
        acme, token_sha256=None, activated_at=None, expires_at=now + 30 * DAY
    )[0]


class TestALinkThatIsShownOnce:
    def test_is_in_no_later_answer_session_message_or_record(
        self, admin: Client, acme: Recipient
    ) -> None:
        made = admin.post(NEW, {"lifetime": "90d"})

        nonce = nonce_in(made.content.decode())
        assert made.status_code == 201
        assert made["Cache-Control"] == "no-store"
        for path in (
            "/recipients/acme/",
            "/recipients/acme.json",
            "/recipients/",
            "/activity/",
            "/activity.json",
            NEW,
            ROTATE,
        ):
            assert nonce not in admin.get(path).content.decode(), path
        for session in Session.objects.all():
            assert nonce not in str(session.get_decoded())
        for event in AuditEvent.objects.all():
            assert nonce not in str(vars(event))
        assert nonce not in str(list(ActivationLink.objects.values()))
        assert acme.tokens.get().token_sha256 is None

    def test_is_not_made_again_by_a_reload(
        self, admin: Client, acme: Recipient
    ) -> None:
        form = {"lifetime": "90d", "once": str(uuid4())}

        first = admin.post(NEW, form)
        again = admin.post(NEW, form, follow=True)

        assert first.status_code == 201
        assert "its link was shown once" in again.content.decode()
        assert "/activate/" not in again.content.decode()
        assert acme.tokens.count() == 1

    @pytest.mark.parametrize(
        ("path", "form"),
        [
            pytest.param(ROTATE, {"keep": "24h"}, id="a rotation"),
            pytest.param("/recipients/new", {"name": "globex"}, id="a recipient"),
        ],
    )
    def test_is_made_by_no_form_twice(
        self, admin: Client, acme: Recipient, path: str, form: dict[str, str]
    ) -> None:
        del acme
        form = {"lifetime": "90d", "once": str(uuid4()), **form}

        first, again = admin.post(path, form), admin.post(path, form)

        assert (first.status_code, again.status_code) == (201, 302)
        assert RecipientToken.objects.count() == 1

    @pytest.mark.parametrize("path", [NEW, ROTATE, "/recipients/new"])
    def test_every_form_has_a_key_of_its_own(
        self, admin: Client, acme: Recipient, path: str
    ) -> None:
        del acme
        keys = [
            re.findall(r'name="once" value="([0-9a-f-]{36})"', text)
            for text in (admin.get(path).content.decode() for _ in range(2))
        ]

        assert [len(found) for found in keys] == [1, 1]
        assert keys[0] != keys[1]

    def test_is_left_only_once_it_is_copied(
        self, admin: Client, acme: Recipient
    ) -> None:
        del acme
        text = admin.post(NEW, {"lifetime": "7d"}).content.decode()

        assert re.search(r'<input type="checkbox" required data-copied>', text)
        assert "I have copied it" in text
        assert "js/sharing.js" in text

    def test_has_a_json_form_for_scripts(self, admin: Client, acme: Recipient) -> None:
        data = admin.post("/recipients/acme/tokens/new.json", {"lifetime": "7d"}).json()

        assert nonce_in(data["activation_link"])
        assert data["token"] == acme.tokens.get().prefix


class TestANewToken:
    @pytest.mark.parametrize(
        ("form", "days"),
        [
            pytest.param({"lifetime": "7d"}, 7, id="a preset"),
            pytest.param({"lifetime": "custom", "until": "45d"}, 45, id="a span"),
        ],
    )
    def test_lives_as_long_as_chosen(
        self, admin: Client, acme: Recipient, form: dict[str, str], days: int
    ) -> None:
        admin.post(NEW, form)

        token = acme.tokens.get()
        assert token.expires_at - token.created_at == days * DAY

    @pytest.mark.parametrize(
        "until", ["366d", "0d", "soon", "2001-01-01", "99999999d", "-5d"]
    )
    def test_cannot_live_for_an_odd_time(
        self, admin: Client, acme: Recipient, until: str
    ) -> None:
        answer = admin.post(NEW, {"lifetime": "custom", "until": until})

        assert answer.status_code == 422
        assert until in answer.content.decode()
        assert not acme.tokens.exists()

    @pytest.mark.parametrize("path", [NEW, ROTATE])
    def test_is_not_made_by_an_empty_form(
        self, admin: Client, acme: Recipient, path: str
    ) -> None:
        answer = admin.post(path, {})

        assert answer.status_code == 422
        assert "Choose how long the token lives" in answer.content.decode()
        assert not acme.tokens.exists()

    def test_leaves_the_others_alone(self, admin: Client, acme: Recipient) -> None:
        old, _ = new_token(acme)

        admin.post(NEW, {"lifetime": "7d"})

        old.refresh_from_db()
        assert old.retires_at is None


class TestRotation:
    @pytest.mark.parametrize(
        ("form", "kept"),
        [
            pytest.param({"keep": "24h"}, DAY, id="a day"),
            pytest.param({"keep": "7d"}, 7 * DAY, id="a week"),
            pytest.param(
                {"keep": "custom", "keep_until": "36h"}, 36 * HOUR, id="other"
            ),
            pytest.param({"keep": "0"}, timedelta(0), id="not at all"),
        ],
    )
    def test_keeps_the_old_token_as_long_as_chosen(
        self, admin: Client, acme: Recipient, form: dict[str, str], kept: timedelta
    ) -> None:
        old, _ = new_token(acme)

        text = admin.post(ROTATE, {"lifetime": "90d", **form}).content.decode()

        assert nonce_in(text)
        assert old.prefix in text
        old.refresh_from_db()
        assert old.replaced_by is not None
        assert old.retires_at == old.replaced_by.created_at + kept

    @pytest.mark.parametrize(
        ("form", "field"),
        [
            pytest.param({"lifetime": "custom", "until": "x"}, "until", id="its life"),
            pytest.param(
                {"keep": "custom", "keep_until": "x"}, "keep_until", id="the overlap"
            ),
            pytest.param(
                {"keep": "custom", "keep_until": "400d"}, "keep_until", id="too long"
            ),
        ],
    )
    def test_says_beside_the_field_what_will_not_do(
        self, admin: Client, acme: Recipient, form: dict[str, str], field: str
    ) -> None:
        old, _ = new_token(acme)

        answer = admin.post(ROTATE, {"lifetime": "90d", "keep": "24h"} | form)

        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == [field]
        old.refresh_from_db()
        assert old.retires_at is None
        assert acme.tokens.count() == 1

    def test_names_what_it_replaces(self, admin: Client, acme: Recipient) -> None:
        old, _ = new_token(acme, expires_at=timezone.now() + 9 * DAY)
        never = waiting(acme)
        gone, _ = new_token(acme, revoked_at=timezone.now())

        text = admin.get(ROTATE).content.decode()

        assert old.prefix in text
        assert never.prefix in text
        assert "it ends at once, with its link" in text
        assert gone.prefix not in text


class TestAnotherLink:
    def test_replaces_the_one_before(self, admin: Client, acme: Recipient) -> None:
        first = nonce_in(admin.post(NEW, {"lifetime": "7d"}).content.decode())
        token = acme.tokens.get()

        again = admin.post(f"/recipients/acme/tokens/{token.id}/link")

        assert again.status_code == 201
        assert again["Cache-Control"] == "no-store"
        second = nonce_in(again.content.decode())
        assert second != first
        assert Client().get(f"/activate/{first}").status_code == 410
        assert Client().get(f"/activate/{second}").status_code == 200

    def test_is_not_made_again_by_a_reload(
        self, admin: Client, acme: Recipient
    ) -> None:
        token = waiting(acme)
        path, form = f"/recipients/acme/tokens/{token.id}/link", {"once": str(uuid4())}

        nonce = nonce_in(admin.post(path, form).content.decode())
        again = admin.post(path, form)

        assert again.status_code == 302
        assert Client().get(f"/activate/{nonce}").status_code == 200

    def test_is_refused_for_a_token_that_is_active(
        self, admin: Client, acme: Recipient
    ) -> None:
        token, _ = new_token(acme)

        answer = admin.post(f"/recipients/acme/tokens/{token.id}/link", follow=True)

        assert "has been activated already" in answer.content.decode()
        assert not ActivationLink.objects.exists()

    def test_of_a_token_of_somebody_else_is_a_404(
        self, admin: Client, acme: Recipient
    ) -> None:
        del acme
        token = waiting(new_recipient("initech"))

        path = f"/recipients/acme/tokens/{token.id}"

        assert admin.post(f"{path}/link").status_code == 404
        assert admin.post(f"{path}/revoke").status_code == 404


class TestTheProfileItself:
    def test_is_downloaded_once_and_closes_the_link(
        self, admin: Client, acme: Recipient
    ) -> None:
        nonce = nonce_in(admin.post(NEW, {"lifetime": "7d"}).content.decode())
        token = acme.tokens.get()
        path = f"/recipients/acme/tokens/{token.id}/profile"

        profile = admin.post(path)
        again = admin.post(path, follow=True)

        assert profile["Content-Type"] == "application/json"
        assert profile["Content-Disposition"] == 'attachment; filename="acme.share"'
        assert profile["Cache-Control"] == "no-store"
        secret = profile.json()["bearerToken"]
        assert secret.startswith(token.prefix)
        assert secret not in again.content.decode()
        assert "cannot be shown again" in again.content.decode()
        assert Client().get(f"/activate/{nonce}").status_code == 410
        for event in AuditEvent.objects.all():
            assert secret not in str(vars(event))

    def test_is_not_for_a_get(self, admin: Client, acme: Recipient) -> None:
        token = waiting(acme)

        answer = admin.get(f"/recipients/acme/tokens/{token.id}/profile")

        assert answer.status_code == 405
        token.refresh_from_db()
        assert token.token_sha256 is None


class TestRevoking:
    def test_a_token_in_use_asks_again_in_words(
        self, admin: Client, acme: Recipient
    ) -> None:
        now = timezone.now()
        new_token(acme, expires_at=now + 90 * DAY)
        token, _ = new_token(
            acme,
            expires_at=now + 90 * DAY,
            last_used_at=now,
            last_used_agent="curl/8.5.0",
        )
        path = f"/recipients/acme/tokens/{token.id}/revoke"

        asked = admin.get(path).content.decode()
        hasty = admin.post(path)

        assert "Not safe to revoke yet" in asked
        assert "by curl 8.5.0" in " ".join(asked.split())
        assert hasty.status_code == 409
        assert "Revoke all the same" in hasty.content.decode()
        token.refresh_from_db()
        assert token.revoked_at is None

    def test_has_a_json_form(self, admin: Client, acme: Recipient) -> None:
        token, secret = new_token(acme, last_used_at=timezone.now())
        path = f"/recipients/acme/tokens/{token.id}"

        asked = admin.get(f"{path}/revoke.json")
        hasty = admin.post(f"{path}/revoke.json")

        assert asked.json()["safe_to_revoke"] is False
        assert asked.json()["cause"] == "in-use"
        assert hasty.status_code == 409
        assert admin.get(f"{path}/retire.json").json()["prefix"] == token.prefix
        assert secret not in asked.content.decode()

    def test_is_never_forbidden(self, admin: Client, acme: Recipient) -> None:
        token, _ = new_token(acme, last_used_at=timezone.now())

        done = admin.post(
            f"/recipients/acme/tokens/{token.id}/revoke", {"sure": "yes"}, follow=True
        )

        assert "is revoked" in done.content.decode()
        token.refresh_from_db()
        assert token.revoked_at is not None

    def test_of_a_silent_token_needs_no_second_question(
        self, admin: Client, acme: Recipient
    ) -> None:
        token = waiting(acme)

        admin.post(f"/recipients/acme/tokens/{token.id}/revoke")

        token.refresh_from_db()
        assert token.revoked_at is not None

    def test_of_an_ended_token_offers_only_the_way_back(
        self, admin: Client, acme: Recipient
    ) -> None:
        token, _ = new_token(acme, revoked_at=timezone.now())

        text = admin.get(f"/recipients/acme/tokens/{token.id}/revoke").content.decode()

        assert "It opens nothing any more" in text
        assert '<button type="submit" class="dw-btn dw-btn-danger"' not in text


class TestTheEndOfATokenOnItsWayOut:
    @pytest.mark.parametrize(
        ("form", "ahead"),
        [
            pytest.param({"at": "24h"}, DAY, id="sooner"),
            pytest.param({"at": "7d"}, 7 * DAY, id="later"),
            pytest.param({"at": "custom", "at_until": "9d"}, 9 * DAY, id="other"),
        ],
    )
    def test_is_moved(
        self, admin: Client, acme: Recipient, form: dict[str, str], ahead: timedelta
    ) -> None:
        now = timezone.now()
        token, _ = new_token(acme, expires_at=now + 30 * DAY, retires_at=now + 2 * DAY)

        path = f"/recipients/acme/tokens/{token.id}/retire"
        text = admin.get(path).content.decode()
        done = admin.post(path, form, follow=True)

        assert "It cannot outlive its expiry" in text
        assert f"{token.prefix}… ends on" in done.content.decode()
        token.refresh_from_db()
        assert token.retires_at is not None
        assert abs(token.retires_at - (now + ahead)) < timedelta(minutes=1)

    @pytest.mark.parametrize("until", ["31d", "2001-01-01", "0", "never"])
    def test_cannot_be_an_odd_moment(
        self, admin: Client, acme: Recipient, until: str
    ) -> None:
        now = timezone.now()
        retires_at = now + 2 * DAY
        token, _ = new_token(acme, expires_at=now + 30 * DAY, retires_at=retires_at)

        answer = admin.post(
            f"/recipients/acme/tokens/{token.id}/retire",
            {"at": "custom", "at_until": until},
        )

        assert answer.status_code == 422
        token.refresh_from_db()
        assert token.retires_at == retires_at

    def test_is_not_moved_once_it_is_over(self, admin: Client, acme: Recipient) -> None:
        token, _ = new_token(acme, revoked_at=timezone.now())

        answer = admin.get(
            f"/recipients/acme/tokens/{token.id}/retire", follow=True
        ).content.decode()

        assert "has ended" in answer
