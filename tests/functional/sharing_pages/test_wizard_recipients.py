"""The wizard that makes a share makes recipients too, and ends with their links."""

import re
from urllib.parse import urlsplit

import pytest
from django.test import Client

from apps.sharing.drafts.draft import MAX_NEW_RECIPIENTS
from apps.sharing.drafts.session import SESSION_KEY
from apps.sharing.models import Recipient, Share
from tests.functional.sharing_pages.wizard import NEW, draft, go, stays, step
from tests.support.pages.factories import new_recipient, new_table

pytestmark = pytest.mark.django_db


class TestNewRecipients:
    @pytest.fixture(autouse=True)
    def _begun(self, admin: Client) -> None:
        """A share with a table, which nobody reads yet."""
        table = new_table("crm.orders")
        go(admin, "name", "next", name="retail")
        go(admin, "tables", f"add:{table.id}")

    def test_are_made_with_the_share_and_their_link_ends_the_wizard(self, admin):
        reader = {"name": "globex", "contact": "data@globex.example", "lifetime": "30d"}
        assert go(admin, "recipients", "new", **reader) == f"{NEW}?step=recipients"
        shown = step(admin, "recipients")
        assert "data@globex.example, token valid for 30d" in shown
        assert "1 recipient" in shown
        go(admin, "recipients", "next")
        assert "can read this table once it opens its link" in step(admin, "review")
        assert not Recipient.objects.exists()

        answer = admin.post(NEW, {"step": "review", "action": "create"})

        assert answer.status_code == 201
        assert answer["Cache-Control"] == "no-store"
        made = answer.content.decode()
        recipient = Recipient.objects.get()
        assert recipient.contact == "data@globex.example"
        assert [share.name for share in recipient.shares.all()] == ["retail"]
        link = re.search(r'id="link-1"[^>]*>(\S+)</code>', made)
        assert link is not None
        assert 'action="/shares/retail/"' in made
        assert "Share retail created: 1 table, 1 recipient." in made
        path = urlsplit(link[1]).path
        assert Client().get(path).status_code == 200
        assert link[1] not in str(dict(admin.session))

        again = stays(admin, "review", "create")
        assert "This draft no longer exists." in again
        assert link[1] not in again

    def test_one_that_is_typed_and_not_added_is_added_on_the_way(self, admin: Client):
        fields = {"name": "globex", "lifetime": "custom", "until": "45d"}

        assert go(admin, "recipients", "next", **fields) == f"{NEW}?step=seen"

        assert [one["name"] for one in draft(admin)["new_recipients"]] == ["globex"]
        assert draft(admin)["begun"]["name"] == ""

    def test_what_was_typed_survives_a_search(self, admin: Client) -> None:
        go(admin, "recipients", "search", q="x", name="globex", lifetime="7d")

        shown = step(admin, "recipients")

        assert 'value="globex"' in shown
        assert re.search(r'value="7d" checked', shown)
        assert draft(admin)["new_recipients"] == []

    def test_one_is_removed_again(self, admin: Client) -> None:
        for name in ("globex", "initech"):
            go(admin, "recipients", "new", name=name, lifetime="7d")

        go(admin, "recipients", "drop:0")

        assert [one["name"] for one in draft(admin)["new_recipients"]] == ["initech"]

    def test_as_many_are_made_as_fit(self, admin: Client) -> None:
        go(admin, "recipients", "new", name="r0", lifetime="7d")
        session = admin.session
        made = session[SESSION_KEY]["new_recipients"]
        made += [
            made[0] | {"name": f"r{number}"} for number in range(2, MAX_NEW_RECIPIENTS)
        ]
        session.save()
        go(admin, "recipients", "new", name="r1", lifetime="7d")

        shown = stays(admin, "recipients", "new", name="one-more", lifetime="7d")

        assert f"{MAX_NEW_RECIPIENTS} new recipients fit into a draft." in shown
        assert len(draft(admin)["new_recipients"]) == MAX_NEW_RECIPIENTS

    def test_one_whose_name_was_taken_meanwhile_is_a_fault_of_the_review(self, admin):
        go(admin, "recipients", "new", name="globex", lifetime="7d")
        new_recipient("globex")

        assert "Change the new recipients" in step(admin, "review")
        answer = admin.post(NEW, {"step": "review", "action": "create"})
        assert answer.status_code == 422
        assert not Share.objects.exists()
