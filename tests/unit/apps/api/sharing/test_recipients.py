"""Recipients, their tokens and links, and the record by REST."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from joserfc.jwk import ECKey

from apps.jobs.kinds import do_job
from apps.jobs.models import Job
from apps.sharing.models import Hold, Recipient, RecipientToken
from tests.support.oauth_tokens import public_pem
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_token,
)
from tests.support.pages.rest import V1, Script, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
RECIPIENTS = f"{V1}/recipients"
TOKENS = f"{RECIPIENTS}/acme/tokens"


@pytest.fixture
def script() -> Script:
    return Script()


def test_a_token_that_waits_is_activated_once_by_who_hands_it_over(script):
    made = script.made(RECIPIENTS, {"name": "acme"})
    path = f"{TOKENS}/{made['token']['id']}/profile"

    taken = script.call("POST", path, once="1")
    again = script.call("POST", path, once="1")
    late = script.call("POST", path)

    assert (taken.status_code, taken.json()["client"]["state"]) == (201, "active")
    token = RecipientToken.objects.get()
    secret = taken.json()["profile"]["bearerToken"]
    assert sha256(secret.encode()).hexdigest() == token.token_sha256
    assert secret.encode() not in again.content
    assert refusal(late) == (409, "token-state")
    link = made["activation_url"].partition("/activate/")[2]
    assert Client().post(f"/activate/{link}").status_code == 410


class TestRecipients:
    def test_are_made_with_a_link_that_opens_their_profile(self, script) -> None:
        new_share("retail")
        body = {"name": "acme", "shares": ["retail"], "expires": "30d"}

        answer = script.call("POST", RECIPIENTS, body)

        made = answer.json()
        assert answer.status_code == 201
        assert (made["name"], made["shares"], made["state"]) == (
            "acme",
            ["retail"],
            "waiting",
        )
        path = made["activation_url"].partition("/activate/")[2]
        assert Client().post(f"/activate/{path}").status_code == 200
        token = RecipientToken.objects.get()
        assert made["token"]["id"] == str(token.id)
        assert answer["Location"] == f"{TOKENS}/{token.id}"

    def test_are_changed_and_deleted(self, script: Script) -> None:
        new_share("retail")
        new_recipient("acme", comment="of old")
        body = {
            "shares": ["retail"],
            "allowed_networks": ["192.0.2.0/24"],
            "properties": ["region=EU"],
        }

        changed = script.made(f"{RECIPIENTS}/acme", body, method="PATCH")
        deleted = script.call("DELETE", f"{RECIPIENTS}/acme")

        assert changed["shares"] == ["retail"]
        assert changed["allowed_networks"] == ["192.0.2.0/24"]
        assert (changed["comment"], changed["properties"]) == ("of old", ["region=EU"])
        assert deleted.status_code == 204
        assert not Recipient.objects.exists()

    def test_versions_are_held_for_them_until_a_day(self, script: Script) -> None:
        shared, acme = new_shared_table(new_share("retail")), new_recipient("acme")
        hold = f"{RECIPIENTS}/acme/holds/retail/{shared.full_name}"
        unread = {"until": "30d"}
        refused = script.call("PUT", hold, {**unread, "version": 2})
        new_grant(shared.share, acme)

        unknown = script.call("PUT", hold, unread)
        held = script.made(hold, {"until": "30d", "version": 2}, method="PUT")

        assert "has no grant for it" in refused.content.decode()
        assert "give the version" in unknown.content.decode()
        assert (held["share"], held["version"]) == ("retail", 2)
        ends_at = datetime.fromisoformat(held["ends_at"])
        assert ends_at - timezone.now() == pytest.approx(
            timedelta(days=30), abs=timedelta(minutes=5)
        )
        assert script.call("DELETE", hold).status_code == 204
        assert not Hold.objects.exists()

    @pytest.mark.parametrize("version", [-1, 0, 3, 1 << 70])
    def test_only_versions_that_are_offered_are_held(self, script, version) -> None:
        shared = new_shared_table(new_share("retail"), start_version=1)
        new_grant(shared.share, new_recipient("acme"))
        hold = f"{RECIPIENTS}/acme/holds/retail/{shared.full_name}"

        refused = script.call("PUT", hold, {"until": "30d", "version": version})

        assert refused.status_code == 422
        assert "acme is offered versions 1 to 2" in refused.json()["message"]
        assert not Hold.objects.exists()

    def test_are_listed_and_shown(self, script: Script) -> None:
        new_token(new_recipient("acme"))

        listed = script.call("GET", f"{RECIPIENTS}?state=active").json()
        shown = script.call("GET", f"{RECIPIENTS}/acme").json()

        assert [one["name"] for one in listed["recipients"]] == ["acme"]
        assert [one["state"] for one in shown["tokens"]] == ["active"]

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            ({"name": "acme", "shares": ["none"]}, 404, "share-not-found"),
            ({"name": "acme", "expires": "soon"}, 422, "lifetime-invalid"),
            ({"name": "acme", "expires": "9999d"}, 422, "lifetime-invalid"),
            ({"name": "acme", "contact": "nobody"}, 422, "contact-invalid"),
            ({"name": "acme", "allowed_networks": ["x"]}, 422, "network-invalid"),
            ({"name": "acme", "allowed_networks": [""]}, 422, "network-invalid"),
        ],
    )
    def test_that_cannot_be_made_say_why(self, script, body, status, error) -> None:
        answer = script.call("POST", RECIPIENTS, body)

        assert refusal(answer) == (status, error)
        assert not Recipient.objects.exists()


class TestTokens:
    def test_are_issued_with_a_profile_that_is_answered_once(self, script) -> None:
        new_recipient("acme")

        answer = script.call("POST", TOKENS, {"expires": "90d"})

        profile = answer.json()
        assert answer.status_code == 201
        assert list(profile) == [
            "shareCredentialsVersion",
            "endpoint",
            "icebergEndpoint",
            "bearerToken",
            "expirationTime",
        ]
        token = RecipientToken.objects.get()
        secret = profile["bearerToken"]
        assert token.token_sha256 == sha256(secret.encode()).hexdigest()
        left = datetime.fromisoformat(profile["expirationTime"]) - timezone.now()
        assert timedelta(days=89) < left <= timedelta(days=90)
        bearer = {"Authorization": f"Bearer {secret}"}
        assert Client().get("/delta-sharing/shares", headers=bearer).status_code == 200
        shown = script.call("GET", answer["Location"])
        assert (shown.status_code, shown.json()["prefix"]) == (200, token.prefix)
        assert secret not in script.call("GET", TOKENS).content.decode()

    def test_are_rotated_and_the_old_one_ends(self, script: Script) -> None:
        token, secret = new_token(new_recipient("acme"))

        profile = script.made(f"{RECIPIENTS}/acme/rotate", {"keep_old": "0"})

        assert profile["bearerToken"] != secret
        token.refresh_from_db()
        assert token.ends_at <= timezone.now()

    def test_end_when_they_are_told_to(self, script: Script) -> None:
        in_ten_days = timezone.now() + timedelta(days=10)
        token, _ = new_token(new_recipient("acme"), expires_at=in_ten_days)

        moved = script.made(f"{TOKENS}/{token.id}", {"ends": "24h"}, method="PATCH")
        late = script.call("PATCH", f"{TOKENS}/{token.id}", {"ends": "11d"})
        all_of_it = script.call("DELETE", TOKENS).json()

        assert (moved["state"], moved["ends_at"]) == ("retiring", moved["retires_at"])
        assert late.status_code == 422
        assert all_of_it == {"num_revoked": 1}
        assert RecipientToken.objects.get().revoked_at is not None

    def test_are_revoked_by_their_id(self, script: Script) -> None:
        token, secret = new_token(new_recipient("acme"))

        answer = script.call("DELETE", f"{TOKENS}/{token.id}")

        assert answer.status_code == 204
        bearer = {"Authorization": f"Bearer {secret}"}
        assert Client().get("/delta-sharing/shares", headers=bearer).status_code == 401

    def test_of_others_are_not_there(self, script: Script) -> None:
        new_recipient("acme")
        other, _ = new_token(new_recipient("initech"))

        for token_id in (other.id, uuid4()):
            answer = script.call("DELETE", f"{TOKENS}/{token_id}")
            assert refusal(answer) == (404, "token-not-found")
        assert other.revoked_at is None

    def test_that_wait_get_new_links(self, script: Script) -> None:
        old = script.made(RECIPIENTS, {"name": "acme"})["activation_url"]

        made = script.made(f"{RECIPIENTS}/acme/activation-links")

        assert made["activation_url"] != old
        assert made["token"]["state"] == "waiting"
        assert Client().post(old[old.index("/activate/") :]).status_code == 410

    def test_of_which_none_waits_get_no_link(self, script: Script) -> None:
        new_token(new_recipient("acme"))

        answer = script.call("POST", f"{RECIPIENTS}/acme/activation-links", {})

        assert answer.json()["error"] == "no-waiting-token"

    @pytest.mark.parametrize("scope", ["read", "write", "admin"])
    def test_are_issued_by_keys_for_sharing_alone(self, scope: str) -> None:
        new_recipient("acme")

        answer = Script(scope).call("POST", TOKENS, {})

        assert refusal(answer) == (403, "scope-required")
        assert not RecipientToken.objects.exists()


class TestClients:
    CLIENTS = f"{RECIPIENTS}/acme/clients"
    PEM = public_pem(ECKey.generate_key("P-256"))
    ISSUER: Final = {"issuer": "https://id.example", "audience": "deltaweb"}

    def test_with_a_secret_get_a_link_that_is_answered_once(self, script) -> None:
        new_recipient("acme")
        body = {"kind": "client_secret"}

        first = script.call("POST", self.CLIENTS, body, once="1")
        again = script.call("POST", self.CLIENTS, body, once="1")

        made = first.json()
        assert (first.status_code, made["kind"]) == (201, "client_secret")
        assert made["activation_url"].count("/activate/") == 1
        assert first["Location"] == f"{TOKENS}/{made['id']}"
        assert refusal(again) == (409, "secret-given")
        assert made["activation_url"] not in again.content.decode()

    @pytest.mark.parametrize(
        ("body", "profile"),
        [
            ({"kind": "private_key", "public_key": PEM}, "jwt_bearer_private_key_jwt"),
            ({"kind": "federated", **ISSUER, "group": "a"}, "client_credentials"),
        ],
        ids=["a key of its own", "an issuer"],
    )
    def test_without_one_show_their_profile(self, script, body, profile) -> None:
        new_recipient("acme")

        made = script.made(self.CLIENTS, body)

        shown = script.call("GET", f"{TOKENS}/{made['id']}/profile").json()
        assert made["activation_url"] is None
        assert shown["client"]["id"] == made["id"]
        assert shown["profile"]["type"] == f"oauth_{profile}"

    def test_take_the_place_of_their_like_where_that_is_asked(self, script) -> None:
        new_recipient("acme")
        old = {"kind": "federated", **self.ISSUER, "subject": "old"}
        new = {**old, "subject": "new", "keep_old": "0"}

        made = [script.made(self.CLIENTS, body) for body in (old, new)]

        ended = RecipientToken.objects.get(id=made[0]["id"])
        assert str(ended.replaced_by_id) == made[1]["id"]

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            ({"kind": "private_key", "public_key": "x"}, 422, "public-key-invalid"),
            ({"kind": "federated", "issuer": "x"}, 422, "client-invalid"),
            ({"kind": "federated", **ISSUER}, 422, "client-invalid"),
            ({"kind": "password"}, 400, "body-invalid"),
            ({"kind": "client_secret", "keep_old": "x"}, 422, "lifetime-invalid"),
        ],
    )
    def test_that_cannot_be_made_say_why(self, script, body, status, error) -> None:
        new_recipient("acme")

        answer = script.call("POST", self.CLIENTS, body)

        assert (answer.json()["error"], answer.status_code) == (error, status)


class TestWhatARecipientReads:
    def test_is_told_by_month_and_by_request(self, script: Script) -> None:
        recipient = new_recipient("acme")
        new_grant(new_share("retail"), recipient)

        limits = {"soft_limit": "1 GiB", "hard_limit": "2 GiB"}
        script.made(f"{RECIPIENTS}/acme", limits, method="PATCH")
        usage = script.call("GET", f"{RECIPIENTS}/acme/usage").json()
        seen = script.call("GET", f"{RECIPIENTS}/acme/seen?share=retail").json()

        assert (usage["recipient"], usage["entries"]) == ("acme", [])
        assert usage["hard_limit"]["size_bytes"] == 2 << 30
        assert (seen["recipient"], seen["share"]) == ("acme", "retail")

    def test_is_rehearsed_by_a_job(self, script: Script) -> None:
        new_recipient("acme")

        answer = script.call("POST", f"{RECIPIENTS}/acme/rehearse")
        job = Job.objects.get(id=answer.json()["job"]["id"])
        do_job(job.kind, str(job.id))

        told = script.call("GET", f"{V1}/jobs/{job.id}").json()
        assert answer.status_code == 202
        assert (told["state"], told["result"]["readings"]) == ("DONE", [])
        assert told["result"]["passed"] is True
        assert not RecipientToken.objects.exists()

    def test_its_connection_is_examined_by_a_job(self, script: Script) -> None:
        recipient = new_recipient("acme")
        token, _ = new_token(recipient, revoked_at=timezone.now())
        address = f"{RECIPIENTS}/acme/doctor"

        job = script.call("POST", address, {}).json()["job"]
        told = script.call("POST", address, {"error": f"{token.prefix}: ended"})
        kept = script.call("GET", address).json()

        assert kept["job"] == job["id"]
        assert (kept["examination"], kept["diagnosis"]) == (None, None)
        assert told.status_code == 200
        (found,) = told.json()["findings"]
        assert (found["step"], found["verdict"]) == ("token", "failed")


def test_the_record_is_read_page_by_page(script: Script) -> None:
    script.made(f"{V1}/shares", {"name": "retail"})

    events = script.call("GET", f"{V1}/activity?share=retail").json()["events"]

    assert [one["action"] for one in events] == ["share.create"]
