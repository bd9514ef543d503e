"""What a form or a call leaves out, or names of another share, gives no access."""

import pytest
from django.test import Client

from apps.pages.actions import command_stamp
from apps.sharing.errors import ProviderNotFoundError
from apps.sharing.models import RecipientRule, Share, SharedSchema, SharedTable
from apps.sharing.shares.received.services import find_provider
from apps.sharing.shares.schemas import add_schema
from apps.sharing.shares.services import rename_share, switch_share
from tests.functional.sharing_pages.pages import posted, refused
from tests.support.pages.factories import (
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture
def shared() -> SharedTable:
    """A table of which a part is shared, without its history."""
    table = new_table("crm.orders")
    new_metadata(table)
    return new_shared_table(
        new_share("retail"),
        "crm.orders",
        table=table,
        with_history=False,
        condition="id > 3",
        columns=["id"],
    )


def offer(shared: SharedTable) -> tuple[object, ...]:
    now = SharedTable.objects.get(id=shared.id)
    return (
        now.with_history,
        now.start_version,
        now.with_directory,
        now.condition,
        now.columns,
    )


@pytest.mark.parametrize("body", [{}, {"comment": "new"}, {"with_history": False}])
def test_an_update_that_leaves_fields_out_widens_nothing(admin, shared, body) -> None:
    before = offer(shared)
    call = "/api/v1/shares/retail/tables/crm.orders"

    answer = admin.put(call, body, content_type=JSON)
    posted(admin, f"/shares/retail/tables/{shared.id}/update", comment="new")

    assert answer.status_code == 200
    assert offer(shared) == before


@pytest.mark.parametrize("columns", ["id,,note", "id,", ","])
def test_a_blank_column_is_refused_by_every_door(admin, shared, columns) -> None:
    before = offer(shared)
    parts = columns.split(",")
    call = "/api/v1/shares/retail/tables/crm.orders"

    refused(admin, f"/shares/retail/tables/{shared.id}/update", columns=columns)
    refused(admin, "/shares/retail/tables/add", table="crm.orders", columns=columns)
    put = admin.put(call, {"columns": parts}, content_type=JSON)
    ruled = admin.put(
        f"{call}/rules/{new_recipient('acme').name}",
        {"columns": parts},
        content_type=JSON,
    )

    assert (put.status_code, ruled.status_code) == (422, 422)
    assert offer(shared) == before
    assert not RecipientRule.objects.exists()


def test_a_form_without_the_box_of_the_history_shares_none(admin: Client) -> None:
    new_share("retail")
    new_table("crm.orders")

    posted(admin, "/shares/retail/tables/add", table="crm.orders")
    posted(admin, "/shares/retail/schemas/add", namespace="crm", schema="all")

    assert not SharedTable.objects.filter(with_history=True).exists()
    assert SharedSchema.objects.get().with_history is False


def test_an_id_of_another_share_is_not_found(admin: Client, shared) -> None:
    other = new_share("other")
    schema = add_schema(other, schema="all", namespace="crm", stamp=command_stamp())
    doors = (
        f"/shares/other/tables/{shared.id}/update",
        f"/shares/other/tables/{shared.id}/remove",
        f"/shares/retail/schemas/{schema.id}/remove",
    )

    found = [admin.post(one, {"with_history": "on"}).status_code for one in doors]

    assert found == [404, 404, 404]
    assert SharedTable.objects.filter(id=shared.id, with_history=False).exists()
    assert SharedSchema.objects.exists()


def test_a_switch_without_its_button_turns_a_share_off(admin: Client) -> None:
    new_share("retail")

    posted(admin, "/shares/retail/switch", is_on="true", name="x")

    assert Share.objects.get().off_since is not None


def test_a_new_name_does_not_turn_a_share_on_that_was_turned_off_meanwhile() -> None:
    new_share("retail")
    found_before = Share.objects.get()
    switch_share(Share.objects.get(), is_on=False, stamp=command_stamp())

    rename_share(found_before, name="other", stamp=command_stamp())

    now = Share.objects.get()
    assert (now.name, now.off_since is None) == ("other", False)


def test_no_database_is_asked_for_a_provider_with_a_nul(
    django_assert_num_queries,
) -> None:
    with django_assert_num_queries(0), pytest.raises(ProviderNotFoundError):
        find_provider("a\0b")
