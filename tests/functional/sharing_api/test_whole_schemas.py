"""Namespaces that are shared whole, and tables that are withdrawn for a while."""

from typing import Any

import pytest
from django.utils import timezone

from apps.pages.actions import command_stamp
from apps.sharing.access.schemas import unshared_tables
from apps.sharing.access.withdrawals import offer_state
from apps.sharing.models import Share, SharedTable
from apps.sharing.shares.schemas import add_schema
from apps.tables.models import Table
from apps.tables.storage.received import is_received
from tests.functional.sharing_api.calls import Caller, Lake, files, items, local
from tests.functional.sharing_api.conftest import NewCaller
from tests.support import cases
from tests.support.pages.factories import new_share, new_shared_table, new_table


@pytest.fixture
def share(lake: Lake) -> Share:
    """The namespace of the lake's table, as the schema `All`."""
    assert lake.shared.table.namespace == "crm"
    share = new_share("Whole")
    facts: Any = {"stamp": command_stamp()}
    add_schema(share, schema="All", namespace="crm", **facts)
    return share


@pytest.fixture
def globex(share: Share, new_caller: NewCaller) -> Caller:
    return new_caller("globex", share)


def listed(caller: Caller) -> list[str]:
    """The tables of the share, as its lists have them: both alike."""
    everything = items(caller.get("/shares/whole/all-tables"))
    in_schema = caller.get("/shares/whole/schemas/all/tables")
    names = [item["name"] for item in everything]
    if names:
        assert [item["name"] for item in items(in_schema)] == names
    else:
        assert in_schema.status_code == 404
    return names


ORDERS = "/shares/whole/schemas/all/tables/orders"


class TestSchema:
    def test_has_the_tables_of_its_namespace(self, globex: Caller, lake: Lake) -> None:
        new_table("other.secret")

        assert listed(globex) == ["orders"]
        assert items(globex.get("/shares/whole/schemas")) == [
            {"name": "All", "share": "Whole"}
        ]
        assert len(files(globex.query(ORDERS))) == len(lake.paths)

    def test_has_a_table_that_comes_later_at_once(self, globex: Caller) -> None:
        new_table("crm.later")

        assert listed(globex) == ["later", "orders"]

    def test_answers_for_a_table_that_nobody_has_listed_yet(self, globex, lake):
        SharedTable.objects.filter(share__name="Whole").delete()

        assert len(files(globex.query(ORDERS))) == len(lake.paths)

    def test_keeps_the_ids_of_its_tables(self, globex: Caller) -> None:
        first = items(globex.get("/shares/whole/all-tables"))

        assert items(globex.get("/shares/whole/all-tables")) == first

    def test_follows_a_table_to_its_new_name(self, globex: Caller, lake: Lake) -> None:
        Table.objects.filter(id=lake.shared.table_id).update(name="sales")

        assert listed(globex) == ["sales"]
        assert globex.get(f"{ORDERS}/version").status_code == 404

    @cases(
        "change, back",
        {
            "hidden": ({"is_private": True}, {"is_private": False}),
            "moved": ({"namespace": "x"}, {"namespace": "crm"}),
        },
    )
    def test_does_not_have_what_has_left_until_it_is_back(
        self, globex, lake, change, back
    ):
        (url, *_) = [file["url"] for file in files(globex.query(ORDERS))]
        assert globex.head(local(url)).status_code == 200
        table = Table.objects.filter(id=lake.shared.table_id)

        table.update(**change)

        assert listed(globex) == []
        assert globex.query(ORDERS).status_code == 404
        assert globex.head(local(url)).status_code == 403
        table.update(**back)
        assert listed(globex) == ["orders"]
        assert globex.head(local(url)).status_code == 200

    def test_does_not_have_what_recipients_cannot_name(self, globex: Caller) -> None:
        Table.objects.filter(id=new_table("crm.x").id).update(name="with space")

        assert listed(globex) == ["orders"]

    def test_does_not_have_what_others_share_with_us(self, globex: Caller) -> None:
        new_table("crm.theirs", location="received://them/share/schema/table")
        assert is_received("received://them/share/schema/table")

        assert listed(globex) == ["orders"]

    def test_does_not_take_the_name_of_a_table_that_was_put_in(self, globex, share):
        SharedTable.objects.filter(share=share).update(from_schema=None, name="later")
        SharedTable.objects.filter(share=share).update(name_key="later")
        new_table("crm.later")

        names = [i["name"] for i in items(globex.get("/shares/whole/all-tables"))]
        assert names == ["later", "orders"]

    @pytest.mark.parametrize(
        "part", [{"condition": "qty > 3"}, {"columns": ["qty"]}], ids=str
    )
    def test_does_not_have_all_of_what_a_part_is_shared_of(self, globex, share, part):
        table = new_table("crm.staff")
        new_shared_table(share, "All.staff", table=table, **part)
        assert listed(globex) == ["orders", "staff"]

        Table.objects.filter(id=table.id).update(name="people")

        assert listed(globex) == ["orders", "staff"]
        assert (table, "the share has a part of it already") in [
            (one, reason)
            for schema in share.shared_schemas.all()
            for one, reason in unshared_tables(schema)
        ]

    @pytest.mark.parametrize(
        "part", [{"condition": "qty > 3"}, {"columns": ["qty"]}], ids=str
    )
    def test_does_not_have_any_more_what_a_part_is_shared_of_since(
        self, globex: Caller, share: Share, lake: Lake, part: dict[str, Any]
    ) -> None:
        (url, *_) = [file["url"] for file in files(globex.query(ORDERS))]

        less = new_shared_table(share, "All.less", table=lake.shared.table, **part)

        assert listed(globex) == ["less"]
        assert globex.query(ORDERS).status_code == 404
        assert globex.head(local(url)).status_code == 403
        (whole,) = SharedTable.objects.filter(share=share, from_schema__isnull=False)
        assert offer_state(whole).reason == "the share has a part of it already"
        less.delete()
        assert listed(globex) == ["orders"]
        assert globex.head(local(url)).status_code == 200


class TestWithdrawal:
    @cases(
        "change",
        {
            "gone": {"error_code": "location-not-found"},
            "no table any more": {"error_code": "not-a-delta-table"},
            "not found in its lake": {"vanished_at": timezone.now()},
            "forbidden": {"error_code": "location-denied"},
        },
    )
    def test_takes_a_table_off_the_lists_and_gives_it_back(self, acme, lake, change):
        table = Table.objects.filter(id=lake.shared.table_id)
        path = f"/shares/{lake.shared.share.name}/all-tables"
        assert len(items(acme.get(path))) == 1

        table.update(**change)

        assert items(acme.get(path)) == []
        table.update(error_code="", vanished_at=None)
        assert len(items(acme.get(path))) == 1

    def test_is_over_for_who_asks_by_name_when_the_files_are_back(self, acme, lake):
        Table.objects.filter(id=lake.shared.table_id).update(
            error_code="location-not-found"
        )

        assert acme.query(lake.path).status_code == 200

    def test_is_not_meant_by_storage_that_is_slow(self, acme: Caller, lake: Lake):
        Table.objects.filter(id=lake.shared.table_id).update(
            error_code="location-unreachable"
        )

        path = f"/shares/{lake.shared.share.name}/all-tables"
        assert len(items(acme.get(path))) == 1
