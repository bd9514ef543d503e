"""The list of recipients: how each stands, in three forms."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.functional.sharing_pages.pages import page
from tests.support.pages.factories import new_grant, new_recipient, new_share, new_token

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


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
