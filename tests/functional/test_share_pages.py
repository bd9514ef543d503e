"""The pages of shares over HTTP: the list, one share, and what can be changed there."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.sharing.models import Share, SharedTable
from tests.factories import (
    new_grant,
    new_metadata,
    new_protocol,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
    new_user,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
EVIL = '<img&src=x>"'


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(new_user("ada", role=User.Role.ADMIN))
    return client


def text(client: Client, path: str, **query: str) -> str:
    answer = client.get(path, query)
    assert answer.status_code == 200, answer.content.decode()
    return re.sub(r"\s+", " ", answer.content.decode())


def as_json(client: Client, path: str, **query: str) -> Any:  # noqa: ANN401 (any document)
    return json.loads(text(client, path, **query))


def posted(client: Client, path: str, **fields: str) -> str:
    """The page that a successful form leads to."""
    answer = client.post(path, fields, follow=True)
    assert answer.redirect_chain, answer.content.decode()
    return re.sub(r"\s+", " ", answer.content.decode())


def refused(client: Client, path: str, **fields: str) -> str:
    """The same page with what was wrong."""
    answer = client.post(path, fields)
    assert answer.status_code == 422, answer.content.decode()
    return re.sub(r"\s+", " ", answer.content.decode()).replace("&#x27;", "'")


def new_read(share: Share, **fields: Any) -> AuditEvent:  # noqa: ANN401 (columns)
    defaults = {
        "at": timezone.now(),
        "kind": AuditEvent.Kind.CALL,
        "action": "table.query",
        "share": share.name,
        "size_bytes": 1024,
    }
    return AuditEvent.objects.create(**(defaults | fields))


@pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
@pytest.mark.parametrize(
    "path", ["/shares/", "/shares/sales/", "/shares/new", "/shares.json", "/activity/"]
)
def test_only_administrators_come_in(role: User.Role, path: str) -> None:
    new_share("sales")
    client = Client()
    client.force_login(new_user("someone", role=role))

    answer = client.get(path)

    assert answer.status_code == 403
    assert "sales" not in answer.content.decode()
    assert "/shares/" not in client.get("/tables/").content.decode()


class TestList:
    def test_shows_what_is_in_each_share_and_who_read_it(self, admin: Client) -> None:
        share = new_share("retail", comment="Every order")
        new_shared_table(share, "crm.orders")
        new_grant(share, new_recipient())
        new_read(share)

        shown = text(admin, "/shares/")

        assert 'href="/shares/retail/"' in shown
        assert "Every order" in shown
        assert "crm.orders" in shown
        assert "just now" in shown
        assert "1 request in 30 days" in shown

    def test_searches_names_comments_and_tables(self, admin: Client) -> None:
        new_shared_table(new_share("one"), "crm.orders")
        new_share("two", comment="about orders")
        new_share("three")

        found = as_json(admin, "/shares.json", q="ORDERS")["shares"]

        assert {share["name"] for share in found} == {"one", "two"}

    def test_orders_by_what_was_read_last(self, admin: Client) -> None:
        old, new = new_share("a_old"), new_share("b_new")
        new_share("c_never")
        new_read(old, at=timezone.now() - timedelta(days=3))
        new_read(new)
        new_read(old, status=404)

        names = [
            share["name"]
            for share in as_json(admin, "/shares.json", sort="read")["shares"]
        ]

        assert names == ["b_new", "a_old", "c_never"]

    def test_tells_none_yet_from_none_that_match(self, admin: Client) -> None:
        assert "No shares yet" in text(admin, "/shares/")

        new_share("sales")
        shown = text(admin, "/shares/", q="nothing")
        assert "No share matches" in shown
        assert "Clear the search" in shown

    def test_json_pages_through_all_and_csv_has_all(self, admin: Client) -> None:
        for number in range(60):
            new_share(f"s{number:02d}")

        names, path = [], "/shares.json"
        while path:
            page = json.loads(admin.get(path).content)
            assert page["count"] == 60
            names += [share["name"] for share in page["shares"]]
            path = page["next"]
        rows = list(
            csv.reader(io.StringIO(admin.get("/shares.csv").getvalue().decode()))
        )

        assert names == [f"s{number:02d}" for number in range(60)]
        assert [row[0] for row in rows[1:]] == names

    def test_htmx_gets_the_list_alone(self, admin: Client) -> None:
        new_share("sales")

        answer = admin.get("/shares/", headers=HTMX)

        assert "<html" not in answer.content.decode()

    def test_an_unknown_order_is_a_400_with_the_known_ones(self, admin: Client) -> None:
        answer = admin.get("/shares.json", {"sort": "colour"})

        assert answer.status_code == 400
        assert "recipients" in answer.json()["hint"]

    def test_asks_the_database_a_fixed_number_of_times(
        self, admin: Client, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        for number in range(40):
            share = new_share(f"s{number}")
            new_shared_table(share, f"crm.t{number}")
            new_grant(share, new_recipient(f"r{number}"))

        with django_assert_max_num_queries(10):
            text(admin, "/shares/")


class TestShare:
    def test_shows_tables_recipients_use_and_snippets(self, admin: Client) -> None:
        share = new_share("retail", comment="Every order")
        new_shared_table(
            share, "crm.orders", start_version=1, partition_filter="country = 'DE'"
        )
        recipient = new_recipient("globex")
        new_grant(share, recipient)
        new_token(recipient, created_at=timezone.now())
        new_read(share)

        shown = text(admin, "/shares/retail/")

        assert "from v1 on" in shown
        assert "country = &#x27;DE&#x27;" in shown
        assert 'href="/recipients/globex/"' in shown
        assert "1 answered" in shown or ">answered <" in shown
        assert "retail.crm.orders" in shown
        assert "delta_sharing" in shown

    def test_a_large_share_is_shown_a_page_at_a_time(self, admin: Client) -> None:
        share, table = new_share("retail"), new_table("crm.t")
        for number in range(130):
            new_shared_table(share, f"crm.t{number:03d}", table=table)
            new_grant(share, new_recipient(f"r{number:03d}"))

        shown = text(admin, "/shares/retail/")
        first = as_json(admin, "/shares/retail.json")
        second = json.loads(admin.get(first["next"]).content)

        assert "130 tables" in shown
        assert "the first 100 by name of 130" in shown
        names = [one["name"] for one in first["tables"] + second["tables"]]
        assert names == [f"t{number:03d}" for number in range(130)]
        assert second["next"] is None

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

        shown = text(admin, "/shares/retail/")
        answer = as_json(admin, "/shares/retail.json")

        assert "1 table cannot be read by every client" in shown
        assert "queries refused: columnMapping" in shown
        clients = answer["tables"][0]["clients"]
        assert [one["feature"] for one in clients["refused_for"]] == ["columnMapping"]
        assert not any(client["can_read"] for client in clients["clients"])

    def test_its_snippets_begin_with_a_table_that_every_client_reads(
        self, admin: Client
    ) -> None:
        share = new_share("retail")
        for name, reader in (("crm.accounts", 2), ("crm.orders", 1)):
            table = new_table(name)
            new_metadata(table, configuration={"delta.columnMapping.mode": "id"})
            new_protocol(table, min_reader_version=reader)
            new_shared_table(share, name, table=table)

        shown = text(admin, "/shares/retail/")

        assert "profile.share#retail.crm.orders" in shown
        assert "profile.share#retail.crm.accounts" not in shown

    def test_what_people_write_is_never_markup(self, admin: Client) -> None:
        share = new_share(EVIL, comment=EVIL)
        new_shared_table(
            share,
            f"crm.{EVIL}",
            table=new_table("crm.t"),
            comment=EVIL,
            partition_filter=EVIL,
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

        with django_assert_max_num_queries(20):
            text(admin, "/shares/retail/")


class TestTables:
    def test_a_table_is_added_under_its_own_names_unless_told(
        self, admin: Client
    ) -> None:
        new_share("retail")
        new_table("crm.orders")

        shown = posted(
            admin, "/shares/retail/tables/add", table="crm.orders", with_history="on"
        )

        assert "crm.orders is in retail as crm.orders." in shown
        added = SharedTable.objects.get()
        assert (added.schema, added.name, added.with_history) == ("crm", "orders", True)

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            pytest.param(
                {"table": "no.such"}, "No table is named 'no.such'", id="table"
            ),
            pytest.param(
                {"schema": "a.b"}, "cannot be the name of a schema", id="schema"
            ),
            pytest.param({"name": "a b"}, "it holds a space", id="name"),
            pytest.param(
                {"start_version": "9", "with_history": "on"},
                "the newest version is 2",
                id="start version",
            ),
            pytest.param(
                {"start_version": "new", "with_history": "on"},
                "Write a version: a whole number",
                id="no number",
            ),
            pytest.param(
                {"partition_filter": "note = 'x'"},
                "not partitioned",
                id="filter",
            ),
        ],
    )
    def test_says_beside_the_field_what_is_wrong(
        self, admin: Client, fields: dict[str, str], said: str
    ) -> None:
        new_share("retail")
        table = new_table("crm.orders")
        new_metadata(table)

        shown = refused(
            admin, "/shares/retail/tables/add", **{"table": "crm.orders", **fields}
        )

        assert said in shown
        assert 'aria-invalid="true"' in shown
        assert not SharedTable.objects.exists()

    def test_a_table_is_edited_in_a_form_that_has_an_address(
        self, admin: Client
    ) -> None:
        shared = new_shared_table(new_share("retail"), "crm.orders")
        assert 'id="edit"' in text(admin, "/shares/retail/", edit=str(shared.id))

        posted(
            admin,
            f"/shares/retail/tables/{shared.id}/update",
            with_history="on",
            start_version="1",
            comment="from the first of May",
        )

        shared.refresh_from_db()
        assert shared.start_version == 1
        assert shared.comment == "from the first of May"

    def test_a_fault_of_an_edit_opens_the_form_again(self, admin: Client) -> None:
        shared = new_shared_table(new_share("retail"), "crm.orders")

        shown = refused(
            admin, f"/shares/retail/tables/{shared.id}/update", start_version="1"
        )

        assert "the table is shared without history" in shown

    def test_a_table_is_removed_and_stays_in_the_catalogue(self, admin: Client) -> None:
        shared = new_shared_table(new_share("retail"), "crm.orders")

        shown = posted(admin, f"/shares/retail/tables/{shared.id}/remove")

        assert "is no longer in retail" in shown
        assert not SharedTable.objects.exists()
        assert admin.get("/t/crm/orders/sharing").status_code == 200

    def test_a_table_of_another_share_is_a_404(self, admin: Client) -> None:
        shared = new_shared_table(new_share("other"), "crm.orders")
        new_share("retail")

        answer = admin.post(f"/shares/retail/tables/{shared.id}/remove")

        assert answer.status_code == 404
        assert SharedTable.objects.exists()

    def test_suggests_tables_by_a_part_of_their_name(self, admin: Client) -> None:
        new_table("crm.orders")
        new_table("hr.people")

        shown = text(admin, "/shares/table-options", table="ord")

        assert 'value="crm.orders"' in shown
        assert "people" not in shown


class TestGrants:
    def test_a_recipient_is_granted_the_share_and_loses_it_again(
        self, admin: Client
    ) -> None:
        share = new_share("retail")
        new_recipient("Globex")

        shown = posted(admin, "/shares/retail/recipients/add", recipient="globex")
        assert "Globex may read retail." in shown
        assert share.recipients.count() == 1

        shown = posted(admin, "/shares/retail/recipients/remove", recipient="Globex")
        assert "Globex may no longer read retail." in shown
        assert share.recipients.count() == 0

    def test_a_new_recipient_begins_with_the_share_ticked(self, admin: Client) -> None:
        new_share("retail")
        new_share("other")
        assert 'href="/recipients/new?share=retail"' in text(admin, "/shares/retail/")

        shown = text(admin, "/recipients/new", share="retail")

        assert len(re.findall(r'value="retail"[^>]* checked', shown)) == 1
        assert not re.search(r'value="other"[^>]* checked', shown)

    def test_an_unknown_recipient_is_named_beside_the_field(
        self, admin: Client
    ) -> None:
        new_share("retail")

        shown = refused(admin, "/shares/retail/recipients/add", recipient="nobody")

        assert "No recipient is named 'nobody'" in shown


class TestNameAndEnd:
    def test_a_share_is_renamed_and_its_comment_set(self, admin: Client) -> None:
        new_share("retail")

        answer = admin.post("/shares/retail/update", {"name": "emea", "comment": "x"})

        assert answer["Location"] == "/shares/emea/"
        assert Share.objects.get().comment == "x"

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            pytest.param("Taken", "exists already", id="taken"),
            pytest.param("a/b", "it holds '/'", id="not a name"),
            pytest.param("", "A share needs a name.", id="empty"),
        ],
    )
    def test_a_name_that_will_not_do_changes_nothing(
        self, admin: Client, name: str, said: str
    ) -> None:
        new_share("retail")
        new_share("taken")

        shown = refused(admin, "/shares/retail/update", name=name, comment="new")

        assert said in shown
        assert set(Share.objects.values_list("name", flat=True)) == {"retail", "taken"}
        assert not Share.objects.filter(comment="new").exists()

    def test_a_share_is_deleted_once_its_name_is_typed(self, admin: Client) -> None:
        new_shared_table(new_share("retail"), "crm.orders")

        assert "Type retail to delete it." in refused(
            admin, "/shares/retail/delete", confirm="Retail"
        )
        assert "is deleted" in posted(admin, "/shares/retail/delete", confirm="retail")
        assert not Share.objects.exists()

    def test_every_change_is_in_the_record_with_who_made_it(
        self, admin: Client
    ) -> None:
        new_share("retail")
        new_recipient("globex")
        new_table("orders")
        posted(admin, "/shares/retail/tables/add", table="orders", with_history="on")
        posted(admin, "/shares/retail/recipients/add", recipient="globex")
        posted(admin, "/shares/retail/update", name="emea")

        events = AuditEvent.objects.order_by("id").values_list(
            "action", "actor", "share"
        )

        assert list(events) == [
            ("share.add_table", "ada", "retail"),
            ("grant.add", "ada", "retail"),
            ("share.rename", "ada", "emea"),
        ]

    @pytest.mark.parametrize("what", ["update", "delete", "tables/add"])
    def test_changes_are_posted_with_a_token(self, what: str) -> None:
        new_share("retail")
        client = Client(enforce_csrf_checks=True)
        client.force_login(new_user("ada", role=User.Role.ADMIN))

        assert client.get(f"/shares/retail/{what}").status_code == 405
        assert client.post(f"/shares/retail/{what}").status_code == 403


@pytest.mark.parametrize(
    "path",
    ["/shares/retail/", "/recipients/", "/recipients/acme/", "/t/crm/orders/sharing"],
)
def test_every_page_says_alike_how_tokens_stand(admin: Client, path: str) -> None:
    share, recipient = new_share("retail"), new_recipient("acme")
    new_shared_table(share, "crm.orders")
    new_grant(share, recipient)
    new_token(recipient, expires_at=timezone.now() + timedelta(days=12, hours=1))

    assert "expires in 12 d" in text(admin, path)
