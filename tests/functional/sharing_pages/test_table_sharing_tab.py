"""The Sharing tab of a table over HTTP, and the button that leads to it."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.tables.models import Table
from tests.functional.sharing_pages.pages import as_json, page
from tests.support.pages.factories import (
    new_call,
    new_grant,
    new_metadata,
    new_protocol,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
    new_unindexed_table,
    new_user,
    signed_in,
)

pytestmark = pytest.mark.django_db
TAB = "/t/crm/orders/sharing"


def client_of(role: User.Role) -> Client:
    return signed_in("someone", role=role)


@pytest.fixture
def shared() -> Table:
    """crm.orders, shared twice, with globex who reads it by both."""
    table = new_table("crm.orders")
    new_metadata(table)
    new_protocol(table)
    retail, old = new_share("retail"), new_share("old")
    new_shared_table(retail, "sales.bestellungen", table=table, start_version=1)
    new_shared_table(old, "crm.orders", table=table, with_history=False)
    globex = new_recipient("globex")
    new_token(globex)
    new_grant(retail, globex)
    new_grant(old, globex)
    return table


def new_read(table: Table, **fields: Any) -> AuditEvent:  # noqa: ANN401 (columns)
    defaults = {
        "recipient": "globex",
        "share": "retail",
        "schema": "sales",
        "table": "bestellungen",
        "table_id": table.id,
        "version": 2,
        "num_files": 3,
        "total_files": 12,
        "size_bytes": 2048,
    }
    return new_call(**(defaults | fields))


def test_shows_where_the_table_is_shared_who_may_read_it_and_who_did(admin, shared):
    new_read(shared)

    shown = page(admin, TAB)

    assert 'href="/shares/retail/"' in shown
    assert "sales.bestellungen" in shown
    assert "from v1 on" in shown
    assert "the newest version only" in shown
    assert "through old, retail" in shown
    assert "v2, 3 of 12 files, 2.0 KiB" in shown
    assert "every client" in shown


def test_has_a_machine_form(admin: Client, shared: Table) -> None:
    new_read(shared)

    data = as_json(admin, f"{TAB}.json")

    assert [one["share"] for one in data["shares"]] == ["old", "retail"]
    assert data["readers"][0]["by_shares"] == ["old", "retail"]
    assert data["last_reads"][0]["size_bytes"] == 2048
    assert data["use"]["days"][-1]["num_answered"] == 1
    assert all(client["can_read"] for client in data["clients"]["clients"])


def test_tells_an_editor_nothing_of_how_recipients_are_reached(shared: Table) -> None:
    new_read(shared)

    data = as_json(client_of(User.Role.EDITOR), f"{TAB}.json")

    assert data["readers"][0].keys() == {
        *("name", "state", "token_state", "last_used_at", "by_shares", "shares")
    }
    assert not {"address", "user_agent", "token"} & data["last_reads"][0].keys()
    assert "last" not in data["use"]


def test_counts_the_calls_of_this_table_alone(admin: Client, shared: Table) -> None:
    other = new_table("crm.items")
    new_read(other)
    new_read(shared, kind=AuditEvent.Kind.CHANGE, action="share.add_table")

    assert "No recipient has requested this table in 30 days." in page(admin, TAB)


@pytest.mark.usefixtures("shared")
def test_offers_a_new_share_and_those_that_exist(admin: Client) -> None:
    new_share("third")

    shown = page(admin, TAB)

    assert 'href="/shares/new?table=crm.orders"' in shown
    assert 'href="/shares/third/?add=crm.orders#add"' in shown
    assert "?add=crm.orders#add" not in shown.replace("/shares/third/?add", "")


def test_says_so_when_it_is_in_no_share(admin: Client) -> None:
    new_table("crm.orders")

    assert "This table is in no share" in page(admin, TAB)


def test_says_what_is_not_known_before_the_first_index(admin: Client) -> None:
    new_unindexed_table("crm.orders")

    shown = page(admin, TAB)

    assert "not known yet" in shown
    assert "its features are not known" in shown


@pytest.mark.usefixtures("shared")
def test_an_editor_reads_the_tab_and_can_change_nothing() -> None:
    shown = page(client_of(User.Role.EDITOR), TAB)

    assert "retail" in shown
    assert "/shares/" not in shown
    assert "/recipients/" not in shown
    assert "Share this table" not in shown
    assert "Share…" not in shown


@pytest.mark.usefixtures("shared")
def test_a_viewer_neither_finds_nor_opens_the_tab() -> None:
    viewer = client_of(User.Role.VIEWER)

    assert TAB not in page(viewer, "/t/crm/orders/")
    assert viewer.get(TAB).status_code == 403
    assert viewer.get(f"{TAB}.json").status_code == 403


def test_an_unknown_table_is_a_404(admin: Client) -> None:
    assert admin.get("/t/crm/nothing/sharing").status_code == 404


def test_asks_the_database_a_fixed_number_of_times(
    admin: Client, shared: Table, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        share, recipient = new_share(f"s{number}"), new_recipient(f"r{number}")
        new_shared_table(share, f"crm.t{number}", table=shared)
        new_grant(share, recipient)
        new_token(recipient)
        new_read(shared)
    page(admin, TAB)  # which is noted

    with django_assert_max_num_queries(22):
        page(admin, TAB)


@pytest.mark.usefixtures("shared")
def test_the_catalogue_marks_tables_that_are_shared_for_those_who_may_know() -> None:
    editor, viewer = client_of(User.Role.EDITOR), Client()
    viewer.force_login(new_user("vera"))

    assert 'title="in 2 shares"' in page(editor, "/tables/")
    assert "in 2 shares" not in page(viewer, "/tables/")
