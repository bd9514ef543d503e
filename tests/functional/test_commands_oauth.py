"""`deltaweb recipient add-client`: what a recipient comes in by, besides tokens."""

import json
from pathlib import Path

import pytest
from joserfc.jwk import RSAKey

from apps.audit.models import AuditEvent
from apps.sharing.issuing.activation import Caller, activate
from apps.sharing.models import Recipient, RecipientToken
from tests.functional.command_line import Ran, refusal, run_json
from tests.functional.share_commands import profile_of
from tests.support.oauth_tokens import public_pem
from tests.support.pages.factories import NOW, new_recipient, new_token

pytestmark = pytest.mark.django_db
KEY = RSAKey.generate_key(2048)
ENDPOINT = "http://127.0.0.1:8000/delta-sharing/"
IDENTITY = ("--issuer", "https://id.example", "--audience", "deltaweb")


@pytest.fixture(autouse=True)
def globex(tmp_path: Path) -> Recipient:
    (tmp_path / "key.pem").write_text(public_pem(KEY))
    return new_recipient("globex")


class TestAddClient:
    def test_hands_a_secret_out_by_a_link(self, globex: Recipient) -> None:
        made = run_json("recipient", "add-client", "globex")

        assert (made["token"]["kind"], made["token"]["state"]) == (
            "client_secret",
            "waiting",
        )
        nonce = made["activation_url"].rpartition("/activate/")[2]
        caller = Caller(address="", user_agent="", request_id="")
        token = globex.tokens.get()
        profile = json.loads(
            activate(nonce, caller=caller, now=token.created_at).to_json()
        )
        assert profile == {
            "shareCredentialsVersion": 2,
            "type": "oauth_client_credentials",
            "endpoint": ENDPOINT,
            "icebergEndpoint": "http://127.0.0.1:8000/iceberg",
            "tokenEndpoint": f"{ENDPOINT}oauth/token",
            "clientId": token.prefix,
            "clientSecret": profile["clientSecret"],
        }
        assert profile["clientSecret"] not in str(AuditEvent.objects.values())

    def test_writes_the_profile_of_a_secret_and_prints_none(self, tmp_path):
        path = tmp_path / "globex.share"

        ran = Ran("recipient", "add-client", "globex", "--profile", path)

        assert profile_of(path)["clientSecret"] not in ran.stdout + ran.stderr

    def test_takes_a_public_key(self, globex: Recipient, tmp_path: Path) -> None:
        made = run_json(
            *("recipient", "add-client", "globex"),
            *("--public-key", tmp_path / "key.pem", "--expires", "30d"),
        )

        token = globex.tokens.get()
        assert token.state(token.created_at) == RecipientToken.State.ACTIVE
        assert made["profile_document"]["auth"] == {
            "tokenEndpoint": f"{ENDPOINT}oauth/token",
            "issuer": ENDPOINT,
            "audience": ENDPOINT,
            "clientId": token.prefix,
            "privateKey": {
                "privateKeyFile": "private_key.pem",
                "keyId": KEY.thumbprint(),
                "algorithm": "RS256",
            },
        }

    def test_takes_the_word_of_an_issuer(self, globex: Recipient) -> None:
        ran = Ran("recipient", "add-client", "globex", *IDENTITY, "--subject", "svc")

        token = globex.tokens.get()
        assert (token.issuer, token.subject) == ("https://id.example", "svc")
        assert "once it has filled in what https://id.example gave it" in ran.stdout
        assert "federated" in Ran("recipient", "show", "globex").stdout

    def test_leaves_tokens_alone_and_replaces_its_like(self, globex: Recipient) -> None:
        bearer, _ = new_token(globex)
        run_json("recipient", "add-client", "globex", *IDENTITY, "--subject", "a")
        old = globex.tokens.get(subject="a")

        more = ("--subject", "b", "--keep-old", "0")
        run_json("recipient", "add-client", "globex", *IDENTITY, *more)

        old.refresh_from_db()
        bearer.refresh_from_db()
        assert old.replaced_by == globex.tokens.get(subject="b")
        assert old.retires_at is not None
        assert bearer.retires_at is None

    def test_leaves_clients_alone_when_tokens_are_rotated(self, globex) -> None:
        run_json("recipient", "add-client", "globex", *IDENTITY, "--subject", "a")
        new_token(globex, created_at=NOW)

        run_json("recipient", "rotate", "globex")

        assert globex.tokens.get(subject="a").retires_at is None

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (IDENTITY, "either a subject or a group"),
            ((*IDENTITY, "--subject", "a", "--group", "b"), "either a subject"),
            (("--issuer", "https://id.example"), "it has no audience"),
            (
                ("--issuer", "id.example", *IDENTITY[2:], "--group", "a"),
                "not http or https",
            ),
            (("--public-key", "/nowhere/key.pem"), "cannot be read"),
        ],
    )
    def test_says_what_will_not_do(self, globex, options, said):
        assert said in refusal("recipient", "add-client", "globex", *options)
        assert not globex.tokens.exists()

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--subject", "a"), "go with --issuer"),
            ((*IDENTITY, "--public-key", "x"), "Give either --public-key or --issuer"),
        ],
    )
    def test_says_which_options_do_not_go_together(self, options, said):
        command = ("recipient", "add-client", "globex")
        assert said in refusal(*command, *options, code=2)

    @pytest.mark.parametrize(
        ("pem", "said"),
        [
            pytest.param(KEY.as_pem(private=True), "a private key", id="private"),
            pytest.param(
                b"-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----",
                "be read",
                id="none",
            ),
            pytest.param(b"hello", "not in PEM", id="words"),
        ],
    )
    def test_refuses_what_is_no_public_key(self, globex, tmp_path, pem, said):
        path = tmp_path / "bad.pem"
        path.write_bytes(pem)

        assert said in refusal(
            "recipient", "add-client", "globex", "--public-key", path
        )
        assert not globex.tokens.exists()
