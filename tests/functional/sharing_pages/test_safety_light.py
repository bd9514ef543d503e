"""A recipient's page says whether the old token may be revoked."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.functional.sharing_pages.pages import page
from tests.support import cases
from tests.support.pages.factories import new_call, new_recipient, new_token

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


class TestTheSafetyLight:
    """Each state in words; the states themselves are tested one by one elsewhere."""

    @cases(
        "old, new, said",
        {
            "red, in use": (
                {"last_used_at": timedelta(minutes=2)},
                {},
                [
                    "Red: not safe",
                    "Not safe to revoke",
                    "1 request today",
                    "after 7 days without a request",
                    "Both tokens in use",
                ],
            ),
            "amber, quiet": (
                {"last_used_at": 3 * DAY},
                {},
                [
                    "Amber: wait",
                    "has no recent requests",
                    "turns green in 4 d",
                    "monthly job",
                ],
            ),
            "green, silent": (
                {"last_used_at": 9 * DAY},
                {"last_used_at": timezone.now()},
                ["Green: safe", "Safe to revoke", "The new token is in use"],
            ),
            "green, the new one unused": (
                {"last_used_at": 9 * DAY},
                {},
                ["Safe to revoke", "has not been used yet"],
            ),
            "the new one not activated": (
                {"last_used_at": 9 * DAY},
                {"token_sha256": None, "activated_at": None},
                ["Amber: wait", "has not been activated", "waits for the recipient"],
            ),
            "the new one gone": (
                {"last_used_at": timedelta(hours=2)},
                {"revoked_at": timezone.now()},
                ["Red: not safe", "There is no newer token"],
            ),
            "never used": ({}, {}, ["Safe to revoke", "never used since"]),
        },
    )
    def test_says_why_in_words(self, admin, old, new, said):
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
        new_call(at=now, token_id=retiring.id)

        text = page(admin, "/recipients/acme/")
        data = admin.get("/recipients/acme.json").json()["rotation"]

        for words in [*said, retiring.prefix, "Requests per day"]:
            assert words in text
        assert data["old"] == retiring.prefix
        assert data["requests_old"][-1] == 1
        assert len(data["days"]) == 14
