"""The page of one recipient: what it may read, its tokens, what it did."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.functional.sharing_pages.pages import page
from tests.support.pages.factories import (
    new_call,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_token,
)

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
NASTY = "<script>alert(1)&\"'x"
NASTY_PATH = "/recipients/%3Cscript%3Ealert(1)%26%22%27x/"


class TestOneRecipient:
    def test_shows_grants_tokens_and_activity(self, admin: Client) -> None:
        acme = new_recipient(
            contact="data@acme.example", allowed_networks=["10.1.4.0/24"]
        )
        retail = new_share("retail")
        new_shared_table(retail, "sales.orders", condition="country = 'DE'")
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
        new_call(
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
        assert "the newest version only" in text
        assert "from v88" in text
        assert "this share has no tables yet" in text
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
        new_shared_table(retail, "sales.orders", condition="country = 'DE'")
        new_grant(retail, acme)
        token, secret = new_token(acme)

        answer = admin.get("/recipients/acme.json")
        data = answer.json()

        assert data["state"] == "active"
        assert data["rotation"] is None
        assert data["tokens"][0]["prefix"] == token.prefix
        [grant] = data["grants"]
        assert grant.pop("clients")["note"].startswith("It is not indexed yet")
        assert grant == {
            "share": "retail",
            "table": "sales.orders",
            "with_history": True,
            "start_version": None,
            "condition": "country = 'DE'",
            "columns": None,
            "partition_filter": "country = 'DE'",
        }
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
        assert "acme has no grants yet" in text
        assert "No activity yet" in text
