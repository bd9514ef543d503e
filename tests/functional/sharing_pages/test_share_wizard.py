"""The wizard that makes a share: back and forth through its steps, then created."""

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.sharing.drafts.draft import MAX_TABLES
from apps.sharing.models import Share
from tests.functional.sharing_pages.wizard import NEW, draft, go, stays, step, typed
from tests.support import cases
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


class TestJourney:
    def test_makes_a_share_with_its_tables_and_readers_at_the_end_alone(self, admin):
        table = new_table("crm.orders")
        new_metadata(table)
        new_protocol(table)
        new_recipient("globex")
        new_recipient("initech")

        assert go(admin, "name", "next", name="retail") == f"{NEW}?step=tables"
        go(admin, "tables", f"add:{table.id}")
        fields = typed(table, schema="sales", start_version="1")
        assert go(admin, "tables", "next", **fields) == f"{NEW}?step=recipients"
        shown = ["globex", "initech"]
        chosen = {"shown": shown, "recipient": ["globex"]}
        assert go(admin, "recipients", "next", **chosen) == f"{NEW}?step=seen"
        assert go(admin, "seen", "next") == f"{NEW}?step=review"
        review = step(admin, "review")
        assert "retail.sales.orders" in review
        assert "versions from v1 on; all rows" in review
        assert "initech" not in review
        assert not Share.objects.exists()
        assert not AuditEvent.objects.exists()
        assert go(admin, "review", "create") == "/shares/retail/"

        share = Share.objects.get()
        shared = share.shared_tables.get()
        assert (shared.full_name, shared.start_version) == ("sales.orders", 1)
        assert [one.name for one in share.recipients.all()] == ["globex"]
        assert draft(admin)["tables"] == []

    def test_keeps_what_was_typed_back_and_forth(self, admin: Client) -> None:
        table = new_table("crm.orders")
        go(admin, "name", "next", name="retail", comment="Every order")
        go(admin, "tables", f"add:{table.id}")

        fields = typed(table, name="bestellungen", condition="x = 1")
        assert go(admin, "tables", "back", **fields) == f"{NEW}?step=name"

        assert 'value="retail"' in step(admin, "name")
        assert "Every order" in step(admin, "name")
        tables = step(admin, "tables")
        assert 'value="bestellungen"' in tables
        assert draft(admin)["tables"][0]["part"]["condition"] == "x = 1"

    def test_a_search_or_a_page_loses_nothing_that_was_typed(self, admin: Client):
        table = new_table("crm.orders")
        go(admin, "tables", f"add:{table.id}")

        location = go(admin, "tables", "search", q="peo ple", **typed(table, name="o2"))

        assert location == f"{NEW}?step=tables&q=peo+ple"
        assert draft(admin)["tables"][0]["name"] == "o2"

    @pytest.mark.parametrize("at", ["name", "review"])
    def test_is_discarded_once_it_was_asked_about(self, admin: Client, at: str) -> None:
        table = new_table("crm.orders")
        go(admin, "name", "next", name="retail")
        go(admin, "tables", f"add:{table.id}")

        asked = go(admin, at, "discard", name="retail")
        assert asked == f"{NEW}?step={at}&ask=discard"
        shown = step(admin, at, ask="discard")
        assert "Discard this draft?" in shown
        assert "the draft of retail, with 1 chosen table and 0 chosen" in shown
        assert f'href="{NEW}?step={at}">Keep it' in shown
        assert draft(admin)["name"] == "retail"

        assert go(admin, at, "discard-now") == "/shares/"
        assert draft(admin)["tables"] == []

    def test_an_empty_draft_is_discarded_without_a_question(self, admin: Client):
        assert go(admin, "review", "discard") == "/shares/"
        assert "Discard this draft?" not in step(admin, "name", ask="discard")


class TestName:
    @cases(
        "name, said",
        {
            "empty": ("", "A share needs a name."),
            "not a name": ("my share", "it contains a space"),
            "taken": ("RETAIL", "A share named RETAIL exists already"),
        },
    )
    def test_says_beside_the_field_what_is_wrong(self, admin, name, said):
        new_share("retail")

        shown = stays(admin, "name", "next", name=name)

        assert said in shown
        assert 'aria-invalid="true"' in shown


class TestTables:
    def test_offers_thousands_of_tables_a_page_at_a_time(self, admin: Client) -> None:
        for number in range(45):
            new_table(f"t{number:02d}")

        first = step(admin, "tables")
        last = step(admin, "tables", page="3")

        assert "t19" in first
        assert "t20" not in first
        assert "41 – 45 of 45" in last

    def test_searches_on_the_server(self, admin: Client) -> None:
        new_table("crm.orders")
        new_table("hr.people")

        shown = step(admin, "tables", q="crm.ord")

        assert "crm.orders" in shown
        assert "hr.people" not in shown
        assert "No table matches" in step(admin, "tables", q="zzz")

    def test_a_table_is_removed_again(self, admin: Client) -> None:
        first, second = new_table("crm.orders"), new_table("crm.items")
        go(admin, "tables", f"add:{first.id}")
        go(admin, "tables", f"add:{second.id}", **typed(first))

        go(admin, "tables", "remove:0", **typed(first), **typed(second, 1))

        assert [one["name"] for one in draft(admin)["tables"]] == ["items"]

    @pytest.mark.parametrize(
        "value", ["nonsense", "remove:", "add:1", "remove:999", "²"]
    )
    def test_a_button_that_makes_no_sense_changes_nothing(self, admin, value):
        table = new_table("crm.orders")
        go(admin, "tables", f"add:{table.id}")

        go(admin, "tables", value, **typed(table))

        assert len(draft(admin)["tables"]) == 1

    def test_a_whole_namespace_is_added_at_once(self, admin: Client) -> None:
        tables = [new_table(f"crm.t{number}") for number in range(3)]
        new_table("hr.people")
        go(admin, "tables", f"add:{tables[1].id}")

        go(admin, "tables", "add-namespace", namespace="crm", **typed(tables[1]))

        shown = step(admin, "tables")
        assert "2 of the 3 tables of crm were added." in shown
        assert '<option value="hr">hr (1)</option>' in shown
        names = [one["name"] for one in draft(admin)["tables"]]
        assert names == ["t1", "t0", "t2"]

    def test_of_a_large_namespace_as_many_are_added_as_fit(self, admin: Client) -> None:
        for number in range(MAX_TABLES + 1):
            new_table(f"crm.t{number:03}")

        go(admin, "tables", "add-namespace", namespace="crm")

        assert len(draft(admin)["tables"]) == MAX_TABLES
        answer = admin.get(NEW, {"step": "tables"})
        shown = answer.content.decode()
        assert f"{MAX_TABLES} of the {MAX_TABLES + 1} tables of crm were added" in shown
        assert f"{MAX_TABLES} tables fit into a draft" in shown
        assert len(answer.content) < 360_000

    def test_ticked_tables_are_added_together(self, admin: Client) -> None:
        tables = [new_table(f"crm.t{number}") for number in range(3)]
        picked = [str(table.id) for table in tables[:2]]
        go(admin, "tables", f"add:{tables[0].id}")

        fields = typed(tables[0], name="first")
        go(admin, "tables", "add-ticked", pick=[*picked, "nonsense"], **fields)

        assert [one["name"] for one in draft(admin)["tables"]] == ["first", "t1"]
        go(admin, "tables", "add-ticked")
        assert "Select the tables to add." in step(admin, "tables")

    def test_goes_no_further_without_a_table(self, admin: Client) -> None:
        assert "Choose a table." in stays(admin, "tables", "next")

    @cases(
        "fields, said",
        {
            "schema": ({"schema": "a.b"}, "name of a schema"),
            "no number": ({"start_version": "x"}, "a whole number"),
        },
    )
    def test_says_beside_the_field_what_is_wrong(self, admin, fields, said):
        table = new_table("crm.orders")
        new_metadata(table)
        go(admin, "tables", f"add:{table.id}")

        shown = stays(admin, "tables", "next", **typed(table, **fields))

        assert said in shown
        assert 'aria-invalid="true"' in shown

    def test_says_which_clients_read_a_table_and_what_stands_in_the_way(self, admin):
        table = new_table("crm.orders")
        new_metadata(table, configuration={"delta.enableDeletionVectors": "true"})
        new_protocol(
            table,
            min_reader_version=3,
            min_writer_version=7,
            reader_features=["deletionVectors", "timestampNtz"],
        )
        go(admin, "tables", f"add:{table.id}")

        shown = step(admin, "tables")

        assert "9 of 11 clients" in shown
        assert "would return those rows" in shown
        assert "delta-sharing 1.1" in shown
        assert "until a file has a deletion vector" in shown
        assert "Enabled but not used" in shown

    def test_another_page_begins_with_a_table(self, admin: Client) -> None:
        new_table("crm.orders")

        answer = admin.get(NEW, {"table": "crm.orders"})
        admin.get(NEW, {"table": "crm.orders"})

        assert answer["Location"] == f"{NEW}?step=name"
        assert [one["name"] for one in draft(admin)["tables"]] == ["orders"]


class TestRecipients:
    def test_keeps_those_on_other_pages(self, admin: Client) -> None:
        go(admin, "recipients", "search", shown=["a", "b"], recipient=["a", "b"], q="c")
        go(admin, "recipients", "search", shown=["c"], recipient=["c"])
        go(admin, "recipients", "next", shown=["a", "b"], recipient=["b"])

        assert draft(admin)["recipients"] == ["c", "b"]

    def test_says_when_there_is_none(self, admin: Client) -> None:
        assert "There are no recipients yet. Add the first" in step(admin, "recipients")

        new_recipient("globex")
        assert "No recipient matches" in step(admin, "recipients", q="zzz")


class TestReview:
    def test_tells_new_tables_from_other_names_of_known_ones(self, admin: Client):
        known, unknown = new_table("crm.orders"), new_table("crm.items")
        old = new_share("old")
        new_shared_table(old, "x.bestellungen", table=known)
        recipient = new_recipient("globex")
        new_token(recipient)
        new_grant(old, recipient)
        go(admin, "name", "next", name="retail")
        go(admin, "tables", f"add:{known.id}")
        go(admin, "tables", f"add:{unknown.id}", **typed(known))
        go(admin, "recipients", "next", shown=["globex"], recipient=["globex"])

        shown = step(admin, "review")

        assert "Already reads this table as old.x.bestellungen." in shown
        assert shown.count(">another name<") == 1
        assert shown.count(">new<") == 1

    def test_nobody_is_said_to_be_nobody(self, admin: Client) -> None:
        table = new_table("crm.orders")
        go(admin, "name", "next", name="retail")
        go(admin, "tables", f"add:{table.id}")

        assert "No recipient is chosen" in step(admin, "review")

    def test_a_recipient_that_is_gone_is_named(self, admin: Client) -> None:
        table = new_table("crm.orders")
        go(admin, "name", "next", name="retail")
        go(admin, "tables", f"add:{table.id}")
        go(admin, "recipients", "next", shown=["gone"], recipient=["gone"])

        assert "Deleted meanwhile: gone." in step(admin, "review")
        answer = admin.post(NEW, {"step": "review", "action": "create"})
        assert answer.status_code == 422
        assert not Share.objects.exists()
