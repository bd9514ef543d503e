"""OAuth clients on the pages of a recipient."""

import pytest
from django.test import Client
from django.utils import timezone
from joserfc.jwk import ECKey

from apps.sharing.models import Recipient, RecipientToken
from tests.functional.sharing_pages.pages import as_json, page, refused
from tests.functional.sharing_pages.tokens import nonce_in
from tests.support.oauth_tokens import public_pem
from tests.support.pages.factories import new_token

pytestmark = pytest.mark.django_db
NEW = "/recipients/acme/clients/new"
FORM = {"lifetime": "90d", "keep": ""}
PEM = public_pem(ECKey.generate_key("P-256"))
IDENTITY = {"kind": "federated", "issuer": "https://id.example", "audience": "deltaweb"}


class TestNewClient:
    def test_with_a_secret_is_handed_out_by_a_link_once(self, admin, acme):
        answer = admin.post(NEW, FORM | {"kind": "client_secret"})

        assert answer.status_code == 201
        assert answer["Cache-Control"] == "no-store"
        assert nonce_in(answer.content.decode())
        token = acme.tokens.get()
        assert token.kind == RecipientToken.Kind.CLIENT_SECRET
        assert "OAuth client, by a secret" in page(admin, "/recipients/acme/")

    def test_with_a_key_shows_its_profile_at_any_time(self, admin, acme):
        admin.post(NEW, FORM | {"kind": "private_key", "public_key": PEM})

        token = acme.tokens.get()
        path = f"/recipients/acme/tokens/{token.id}/client"
        assert "private_key.pem" in page(admin, path)
        assert as_json(admin, f"{path}.json")["profile"]["auth"]["privateKey"][
            "algorithm"
        ] == ("ES256")
        assert path in page(admin, "/recipients/acme/")

    def test_of_an_issuer_says_whom_it_takes(self, admin: Client, acme: Recipient):
        admin.post(NEW, FORM | IDENTITY | {"group": "analysts"})

        token = acme.tokens.get()
        text = page(admin, f"/recipients/acme/tokens/{token.id}/client")
        assert "https://id.example" in text
        assert "analysts" in text

    def test_may_take_the_place_of_its_like(self, admin, acme):
        bearer, _ = new_token(acme, expires_at=timezone.now().replace(year=2999))
        admin.post(NEW, FORM | IDENTITY | {"subject": "old"})

        admin.post(NEW, FORM | IDENTITY | {"subject": "new", "keep": "0"})

        old = acme.tokens.get(subject="old")
        assert old.replaced_by == acme.tokens.get(subject="new")
        bearer.refresh_from_db()
        assert bearer.retires_at is None

    @pytest.mark.parametrize(
        ("form", "said"),
        [
            ({"kind": "private_key", "public_key": "x"}, "not in PEM"),
            ({"kind": "private_key"}, "not in PEM"),
            ({"kind": "federated"}, "it has no audience"),
            (IDENTITY | {"issuer": "x", "group": "a"}, "not http or https"),
            (IDENTITY, "either a subject"),
        ],
    )
    def test_says_what_will_not_do(self, admin, acme, form, said):
        assert said in refused(admin, NEW, **(FORM | form))
        assert not acme.tokens.exists()

    def test_is_an_administrators(self, client: Client, acme: Recipient) -> None:
        assert client.post(NEW, FORM).status_code in {302, 403}
        assert not acme.tokens.exists()

    def test_with_a_secret_has_no_profile_to_look_at(self, admin, acme):
        admin.post(NEW, FORM | {"kind": "client_secret"})

        path = f"/recipients/acme/tokens/{acme.tokens.get().id}/client"
        assert admin.get(path).status_code == 404
