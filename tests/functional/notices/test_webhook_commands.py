"""`deltaweb webhook add --follow` adds to what a person follows already."""

import pytest
from django.core.management import call_command

from apps.accounts.models import User
from apps.notices.models import Webhook
from tests.functional.notices.receiver import Receiver
from tests.functional.notices.test_following import follow
from tests.support.pages.factories import new_table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
SALES = ("--user", "tom", "--follow", "sales.orders")


class TestAWebhookOfAFollowedTable:
    def test_takes_nothing_from_the_bell_mail_and_other_webhooks(
        self, tom: User, receiver: Receiver
    ) -> None:
        new_table("sales.orders")
        kept = follow(tom, kinds=["table.schema"], mail=True, often="daily")

        call_command("webhook", "add", receiver.url, *SALES)
        call_command("webhook", "add", receiver.url, *SALES)

        kept.refresh_from_db()
        assert (kept.by_bell, kept.by_mail, kept.often) == (True, True, "daily")
        assert kept.kinds == ["table.schema"]
        assert kept.webhooks.count() == Webhook.objects.count() == 2

    def test_adds_its_kinds_of_events(self, tom: User, receiver: Receiver) -> None:
        new_table("sales.orders")
        kept = follow(tom, kinds=["table.schema"], breaking_only=True)

        call_command(
            "webhook", "add", receiver.url, *SALES, "--kind", "table.late", "--breaking"
        )

        kept.refresh_from_db()
        assert set(kept.kinds) == {"table.schema", "table.late"}
        assert kept.breaking_only

    def test_gets_all_new_versions_if_it_is_not_limited(
        self, tom: User, receiver: Receiver
    ) -> None:
        new_table("sales.orders")
        kept = follow(tom, kinds=["table.schema"], breaking_only=True)

        call_command("webhook", "add", receiver.url, *SALES, "--kind", "table.version")

        kept.refresh_from_db()
        assert set(kept.kinds) == {"table.schema", "table.version"}
        assert not kept.breaking_only

    def test_follows_a_table_that_was_not_followed(
        self, tom: User, receiver: Receiver
    ) -> None:
        new_table("sales.orders")

        call_command("webhook", "add", receiver.url, *SALES)

        begun = tom.follows.get()
        assert begun.subject_name == "sales.orders"
        assert not begun.by_bell
        assert begun.webhooks.get() == Webhook.objects.get()
