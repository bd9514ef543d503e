"""The page of one share: its tables, its recipients, what clients make of them."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.sharing.access.grants.rules import rule_of
from apps.sharing.models import PreparedVersion, SharedTable
from tests.functional.sharing_pages.pages import as_json, new_read, page
from tests.support.pages.factories import (
    new_grant,
    new_metadata,
    new_protocol,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)

pytestmark = pytest.mark.django_db
EVIL = '<img&src=x>"'


def _ruled(condition: str, **recipients: str) -> tuple[SharedTable, dict[str, str]]:
    """A ruled table and its readers by their region; returns the digest of each."""
    share = new_share("retail")
    shared = new_shared_table(share, "crm.orders", condition=condition)
    digests = {}
    for region, name in recipients.items():
        recipient = new_recipient(name, properties={"region": region} if region else {})
        new_grant(share, recipient)
        digests[name] = rule_of([shared], recipient).digest
    return shared, digests


def _ready(shared: SharedTable, digest: str, **fields: Any) -> None:  # noqa: ANN401 (columns)
    values = {"num_signed": 21, "num_rewritten": 0, "num_absent": 65, "size_bytes": 0}
    PreparedVersion.objects.create(
        shared_table=shared,
        rule=digest,
        version=4,
        prepared_at=timezone.now(),
        **values | fields,
    )


def text_of(shown: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown))


class TestShare:
    def test_shows_tables_recipients_use_and_snippets(self, admin: Client) -> None:
        share = new_share("retail", comment="Every order")
        new_shared_table(
            share, "crm.orders", start_version=1, condition="country = 'DE'"
        )
        recipient = new_recipient("globex")
        new_grant(share, recipient)
        new_token(recipient, created_at=timezone.now())
        new_read(share)

        shown = page(admin, "/shares/retail/")

        assert "from v1 on" in shown
        assert "country = &#x27;DE&#x27;" in shown
        assert 'href="/recipients/globex/"' in shown
        assert "1 answered, 0 refused" in shown
        assert "retail.crm.orders" in shown
        assert "delta_sharing" in shown

    def test_a_large_share_is_shown_a_page_at_a_time(self, admin: Client) -> None:
        share, table = new_share("retail"), new_table("crm.t")
        for number in range(130):
            new_shared_table(share, f"crm.t{number:03d}", table=table)
            new_grant(share, new_recipient(f"r{number:03d}"))

        shown = page(admin, "/shares/retail/")
        first = as_json(admin, "/shares/retail.json")
        second = json.loads(admin.get(first["next"]).content)

        assert "130 tables" in shown
        assert "the first 100 by name of 130" in shown
        names = [one["name"] for one in first["tables"] + second["tables"]]
        assert names == [f"crm.t{number:03d}" for number in range(130)]
        assert second["next"] is None

    def test_names_whose_figures_it_shows_and_none_of_an_older_rule(self, admin):
        shared, names = _ruled("region = recipient.region", DE="globex", FR="initech")
        new_grant(shared.share, new_recipient("zeta"))
        _ready(shared, names["globex"], num_rows=2485, num_outside=0)
        _ready(shared, "of-an-older-rule", num_rows=777, num_outside=13)

        shown = text_of(page(admin, "/shares/retail/"))

        assert "globex 2,485 21 files 0 files 65 files 0, v4 " in shown
        assert "initech Being prepared." in shown
        assert "zeta has no region" in shown
        assert "has no region" not in shown.partition("zeta")[0]
        assert "777" not in shown
        assert "13, v4" not in shown

    def test_a_rule_that_shows_no_row_to_a_recipient_is_amber(self, admin: Client):
        shared, names = _ruled("region = recipient.region", **{"": "zeta"})
        _ready(shared, names["zeta"], num_rows=0, num_signed=0)

        shown = page(admin, "/shares/retail/")

        assert re.search(
            r'dw-chip is-amber">(?:(?!</span>).)*0 rows: has no region',
            shown,
            re.DOTALL,
        )

    def test_a_condition_that_cannot_be_read_is_said_for_its_table_alone(self, admin):
        shared, _ = _ruled("region = 'EU'", DE="globex")
        new_shared_table(shared.share, "crm.bad", condition="region = (")

        shown = text_of(page(admin, "/shares/retail/"))

        assert shown.count("The condition cannot be read") == 1
        assert "globex Being prepared." in shown

    def test_is_found_whatever_its_capitals(self, admin: Client) -> None:
        new_share("Retail")

        assert as_json(admin, "/shares/rETAIL.json")["name"] == "Retail"

    def test_a_share_that_is_not_there_is_a_404(self, admin: Client) -> None:
        answer = admin.get("/shares/nothing/")

        assert answer.status_code == 404
        assert "No share is named" in answer.content.decode()

    def test_warns_of_a_table_that_clients_would_misread(self, admin: Client) -> None:
        table = new_table("crm.orders")
        new_metadata(table, configuration={"delta.columnMapping.mode": "id"})
        new_protocol(table, min_reader_version=2)
        new_shared_table(new_share("retail"), "crm.orders", table=table)

        shown = page(admin, "/shares/retail/")
        answer = as_json(admin, "/shares/retail.json")

        assert "1 table cannot be read by every client" in shown
        assert "10 of 11 clients" in shown
        clients = answer["tables"][0]["clients"]
        assert [one["feature"] for one in clients["refused_for"]] == ["columnMapping"]
        unread = [c["client"] for c in clients["clients"] if not c["can_read"]]
        assert unread == ["Power BI"]

    def test_what_people_write_is_never_markup(self, admin: Client) -> None:
        share = new_share(EVIL, comment=EVIL)
        new_shared_table(
            share,
            f"crm.{EVIL}",
            table=new_table("crm.t"),
            comment=EVIL,
            condition=EVIL,
        )
        new_grant(share, new_recipient(EVIL))
        new_read(share, recipient=EVIL, user_agent=EVIL, table=EVIL)

        for path in ("/shares/", share.get_absolute_url(), "/activity/"):
            assert EVIL not in admin.get(path).content.decode()

    def test_asks_the_database_a_fixed_number_of_times(
        self, admin: Client, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        share = new_share("retail")
        for number in range(30):
            table = new_table(f"crm.t{number}")
            new_metadata(table)
            new_protocol(table)
            new_shared_table(share, f"crm.t{number}", table=table)
            recipient = new_recipient(f"r{number}")
            new_grant(share, recipient)
            new_token(recipient)

        with django_assert_max_num_queries(22):
            page(admin, "/shares/retail/")


@pytest.mark.parametrize(
    "path",
    ["/shares/retail/", "/recipients/", "/recipients/acme/", "/t/crm/orders/sharing"],
)
def test_every_page_says_alike_how_tokens_stand(admin: Client, path: str) -> None:
    share, recipient = new_share("retail"), new_recipient("acme")
    new_shared_table(share, "crm.orders")
    new_grant(share, recipient)
    token, _ = new_token(recipient, expires_at=timezone.now() + timedelta(days=30))

    assert "expires in" not in page(admin, path)  # a fresh one is no cause for care
    token.expires_at = timezone.now() + timedelta(days=5, hours=1)
    token.save()

    assert "expires in 5 d" in page(admin, path)


@pytest.mark.parametrize(
    "path",
    ["/shares/retail/", "/recipients/", "/recipients/acme/", "/t/crm/orders/sharing"],
)
def test_a_recipient_beyond_its_hard_limit_is_red_on_every_page(admin, path) -> None:
    share = new_share("retail")
    recipient = new_recipient("acme", hard_limit_bytes=1000)
    new_shared_table(share, "crm.orders")
    new_grant(share, recipient)
    new_token(recipient, expires_at=timezone.now() + timedelta(days=90))

    assert "over its limit" not in page(admin, path)
    new_read(share, recipient_id=recipient.id, size_bytes=1000)

    shown = page(admin, path)
    assert re.search(r'is-red">(?:(?!</span>).)*over its limit', shown, re.DOTALL)
    assert not re.search(r'is-green">(?:(?!</span>).)*>active<', shown, re.DOTALL)
