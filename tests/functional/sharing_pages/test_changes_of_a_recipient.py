"""A recipient is made, changed and deleted."""

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.sharing.models import Recipient
from tests.functional.sharing_pages.pages import page
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)

pytestmark = pytest.mark.django_db


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

    @cases(
        "changed, said",
        {
            "no name": ({"name": ""}, "Enter a name"),
            "a name that is taken": ({"name": "ACME"}, "exists already"),
            "no lifetime": ({"lifetime": "custom"}, "Enter 45d"),
            "a long life": ({"lifetime": "custom", "until": "9999d"}, "365 days"),
            "an unknown share": ({"shares": ["secret"]}, "not one of"),
        },
    )
    def test_says_what_will_not_do_and_makes_nothing(self, admin, changed, said):
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
        assert "1 added, 1 removed" in done.content.decode()
        assert [share.name for share in acme.shares.all()] == ["new"]
        actions = AuditEvent.objects.values_list("action", flat=True)
        assert set(actions) == {"grant.add", "grant.remove"}
        assert (
            admin.post("/recipients/acme/grants", {"shares": ["x"]}).status_code == 422
        )

    def test_contact_and_allow_list_are_saved(self, admin: Client) -> None:
        new_recipient()
        form = {"contact": "a@b.example", "comment": "x", "networks": "10.0.0.0/8"}
        form["properties"] = "region=EU\nlevel=3"

        done = admin.post("/recipients/acme/settings", form, follow=True)

        assert "Saved" in done.content.decode()
        assert admin.get("/recipients/acme/settings.json").json() == {
            "recipient": "acme",
            "contact": "a@b.example",
            "comment": "x",
            "allowed_networks": ["10.0.0.0/8"],
            "properties": {"region": "EU", "level": 3},
            "soft_limit_bytes": None,
            "hard_limit_bytes": None,
            "in_browser": False,
            "plain": False,
            "may_rotate": False,
        }

    def test_saving_properties_says_until_when_earlier_urls_open(self, admin) -> None:
        table = new_table("crm.orders", location="s3://lake/orders")
        shared = new_shared_table(
            new_share("retail"), "crm.orders", table=table, condition="id = recipient.n"
        )
        new_grant(shared.share, new_recipient())
        path = "/recipients/acme/settings"

        described = admin.post(path, {"comment": "x"}, follow=True)
        changed = admin.post(path, {"properties": "n=3"}, follow=True)

        assert "that were issued" not in described.content.decode()
        assert "that were issued before work until" in changed.content.decode()

    @cases(
        "form, said",
        {
            "a property": ({"properties": "region"}, "is not a property"),
            "a network": ({"networks": "everywhere"}, "everywhere"),
            "a long text": ({"comment": "x" * 10_001}, ""),
        },
    )
    def test_what_will_not_do_is_refused_beside_its_field(self, admin, form, said):
        acme = new_recipient()

        answer = admin.post("/recipients/acme/settings", form)

        assert answer.status_code == 422
        assert said in answer.content.decode()
        kept = Recipient.objects.get(id=acme.id)
        assert (kept.comment, kept.allowed_networks, kept.properties) == ("", [], {})

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
