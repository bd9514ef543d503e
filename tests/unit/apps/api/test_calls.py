"""Calls that are repeated with their idempotency key."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts.models import APIKey
from apps.api.models import KeptAnswer
from apps.sharing.models import RecipientToken, Share
from tests.support import cases
from tests.support.pages.factories import new_recipient, new_share
from tests.support.pages.rest import V1, Script, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SHARES = f"{V1}/shares"


@pytest.fixture
def script() -> Script:
    return Script()


class TestACallThatIsRepeated:
    def test_is_answered_as_the_first_and_not_done_again(self, script: Script) -> None:
        first = script.call("POST", SHARES, {"name": "retail"}, once="k1")
        again = script.call("POST", SHARES, {"name": "retail"}, once="k1")

        assert (first.status_code, again.status_code) == (201, 201)
        assert again.json() == first.json()
        assert again["Idempotent-Replayed"] == "true"
        assert "Idempotent-Replayed" not in first
        assert Share.objects.count() == 1

    def test_with_another_body_is_refused(self, script: Script) -> None:
        script.call("POST", SHARES, {"name": "retail"}, once="k1")

        other = script.call("POST", SHARES, {"name": "wholesale"}, once="k1")

        assert refusal(other) == (422, "idempotency-key-reused")
        assert Share.objects.count() == 1

    def test_is_anothers_call_with_the_key_of_another(self, script: Script) -> None:
        script.call("POST", SHARES, {"name": "retail"}, once="k1")

        other = Script(name="otto").call("POST", SHARES, {"name": "retail"}, once="k1")

        assert other.json()["error"] == "name-taken"

    def test_may_be_put_right_after_a_refusal(self, script: Script) -> None:
        refused = script.call("POST", SHARES, {"name": "a/b"}, once="k1")

        done = script.call("POST", SHARES, {"name": "retail"}, once="k1")

        assert (refused.status_code, done.status_code) == (422, 201)

    def test_may_be_made_anew_after_a_day(self, script: Script) -> None:
        script.call("POST", SHARES, {"name": "retail"}, once="k1")
        kept = KeptAnswer.objects.get()
        kept.created_at -= timedelta(days=1, minutes=1)
        kept.save()

        again = script.call("POST", SHARES, {"name": "retail"}, once="k1")

        assert again.json()["error"] == "name-taken"

    def test_waits_for_the_end_of_the_first(self, script: Script) -> None:
        script.call("POST", SHARES, {"name": "retail"}, once="k1")
        KeptAnswer.objects.update(status=None)  # as while it is answered

        again = script.call("POST", SHARES, {"name": "retail"}, once="k1")

        assert refusal(again) == (409, "still-answered")

    def test_is_done_again_where_the_lease_of_the_first_has_ended(self, script):
        script.call("POST", SHARES, {"name": "retail"}, once="k1")
        Share.objects.all().delete()
        KeptAnswer.objects.update(status=None, leased_until=timezone.now())

        other = script.call("POST", SHARES, {"name": "wholesale"}, once="k1")
        again = script.call("POST", SHARES, {"name": "retail"}, once="k1")
        kept = script.call("POST", SHARES, {"name": "retail"}, once="k1")

        assert refusal(other) == (422, "idempotency-key-reused")
        assert (again.status_code, kept.status_code) == (201, 201)
        assert kept["Idempotent-Replayed"] == "true"

    def test_is_kept_for_as_long_as_it_is_answered(self, script: Script) -> None:
        script.call("POST", SHARES, {"name": "retail"}, once="k1")
        kept = KeptAnswer.objects.get()
        kept.created_at -= timedelta(days=2)
        kept.status, kept.leased_until = None, timezone.now() + timedelta(minutes=1)
        kept.save()

        again = script.call("POST", SHARES, {"name": "retail"}, once="k1")

        assert refusal(again) == (409, "still-answered")

    @pytest.mark.parametrize("key", ["x" * 256, "ü".encode().decode("latin-1")])
    def test_needs_a_key_of_printable_ascii(self, script: Script, key: str) -> None:
        answer = script.call("POST", SHARES, {"name": "retail"}, once=key)

        assert refusal(answer) == (400, "idempotency-key-invalid")


def test_the_description_tells_of_the_key() -> None:
    paths = Script().call("GET", "/api/openapi.json").json()["paths"]

    def names(method: str) -> list[str]:
        return [one["name"] for one in paths[SHARES][method].get("parameters", [])]

    assert "Idempotency-Key" in names("post")
    assert "Idempotency-Key" not in names("get")


class TestAnAnswerWithASecret:
    @cases(
        "path, body, secret",
        {
            "link": ("recipients", {"name": "initech"}, "activation_url"),
            "token": ("recipients/acme/tokens", {}, "bearerToken"),
            "rotation": ("recipients/acme/rotate", {}, "bearerToken"),
            "key": ("users/ada/keys", {}, "key"),
            "sign-in link": ("users/ada/sign-in-links", {}, "url"),
        },
    )
    def test_is_kept_nowhere_and_told_as_given(self, path, body, secret) -> None:
        new_recipient("acme")
        script = Script("share", "admin")

        first = script.call("POST", f"{V1}/{path}", body, once="k1")
        again = script.call("POST", f"{V1}/{path}", body, once="k1")

        assert first.status_code == 201
        given = first.json()[secret]
        assert len(given) > 30
        assert first["Cache-Control"] == "no-store"
        assert refusal(again) == (409, "secret-given")
        kept = KeptAnswer.objects.get()
        assert given not in kept.body
        assert given.rstrip("/").rpartition("/")[2] not in f"{kept.body} {kept.headers}"

    def test_names_what_was_made_so_that_it_can_be_revoked(self) -> None:
        new_recipient("acme")
        script = Script()
        tokens = f"{V1}/recipients/acme/tokens"
        script.call("POST", tokens, {"expires": "30d"}, once="k1")

        told = script.call("POST", tokens, {"expires": "30d"}, once="k1").json()

        assert told["recipient"] == "acme"
        assert told["token_id"] == str(RecipientToken.objects.get().id)
        assert "revoke" in told["hint"]


@pytest.mark.django_db(transaction=True)
def test_of_calls_at_once_one_is_done() -> None:
    script = Script()
    new_share("other")

    def ask(_: int) -> int:
        try:
            answer = script.call("POST", SHARES, {"name": "retail"}, once="k1")
            return int(answer.status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(ask, range(4)))

    assert set(statuses) <= {201, 409, 503}
    assert 201 in statuses
    assert Share.objects.filter(name="retail").count() == 1
    assert APIKey.objects.count() == 1
