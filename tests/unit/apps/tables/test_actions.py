"""What is reported of the catalogue: who changed what."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.pages.actions import COMMAND_LINE, Actor, Stamp
from apps.tables.catalogue.registration import (
    TableSettings,
    describe_table,
    register_table,
    remove_table,
    rename_table,
    schedule_table,
    stamp_for,
)
from apps.tables.errors import TableInUseError, TableNameTakenError
from apps.tables.extension import guards
from apps.tables.models import Table
from tests.support.pages.factories import NOW, new_table, new_user

pytestmark = pytest.mark.django_db
BY: dict[str, Any] = {"stamp": Stamp(Actor(name="ada", address="192.0.2.1"), NOW)}


def recorded() -> list[tuple[str, str, str]]:
    events = AuditEvent.objects.order_by("id")
    return list(events.values_list("action", "table", "actor"))


class TestRegistering:
    def test_is_recorded_with_where_the_table_is(self) -> None:
        table = register_table(name="s.orders", location="/lake/orders", **BY)

        event = AuditEvent.objects.get()
        assert (event.action, event.table, event.table_id) == (
            "table.register",
            "s.orders",
            table.id,
        )
        assert event.detail == {"location": "/lake/orders", "restricted": False}
        assert event.address == "192.0.2.1"

    def test_is_the_command_line_s_unless_somebody_is_named(self) -> None:
        eve = new_user("eve", role=User.Role.ADMIN)

        register_table(name="a", location="/lake/a", stamp=Stamp(COMMAND_LINE, NOW))
        register_table(
            name="b", location="/lake/b", created_by=eve, stamp=stamp_for(eve, NOW)
        )

        assert recorded() == [
            ("table.register", "a", "command line"),
            ("table.register", "b", "eve"),
        ]

    def test_that_is_refused_leaves_no_record(self) -> None:
        new_table("orders", location="/lake/orders")

        with pytest.raises(TableNameTakenError, match="named orders"):
            register_table(name="orders", location="/lake/other", **BY)

        assert recorded() == []
        assert Table.objects.count() == 1


class TestChanging:
    def test_a_name_is_recorded_with_the_old_one(self) -> None:
        table = new_table("orders")

        rename_table(table, name="sales.orders", **BY)
        rename_table(table, name="sales.orders", **BY)

        assert Table.objects.get().full_name == "sales.orders"
        assert recorded() == [("table.rename", "sales.orders", "ada")]
        assert AuditEvent.objects.get().detail == {
            "old": "orders",
            "new": "sales.orders",
        }

    def test_a_description_is_recorded_when_it_changes(self) -> None:
        table = new_table("orders", description="Some")

        for _ in range(2):
            describe_table(
                table, TableSettings(description="All", restricted=False), **BY
            )

        assert recorded() == [("table.describe", "orders", "ada")]
        assert AuditEvent.objects.get().detail == {"old": "Some", "new": "All"}

    @pytest.mark.parametrize(
        ("restricted", "action"), [(True, "table.hide"), (False, "table.show")]
    )
    def test_who_sees_a_table_is_a_record_of_its_own(self, action, *, restricted):
        table = new_table("orders", is_private=not restricted)

        describe_table(
            table, TableSettings(description="", restricted=restricted), **BY
        )

        assert recorded() == [(action, "orders", "ada")]
        detail = AuditEvent.objects.get().detail
        hidden_in = "new" if restricted else "old"
        assert detail.pop(hidden_in) == "editors and administrators"
        assert list(detail.values()) == ["everybody"]

    def test_each_field_of_one_form_is_recorded(self) -> None:
        table = new_table("orders")

        describe_table(table, TableSettings(description="All", restricted=True), **BY)

        assert [action for action, _, _ in recorded()] == [
            "table.describe",
            "table.hide",
        ]

    def test_a_schedule_is_recorded_with_the_old_one_when_it_changes(self) -> None:
        table = new_table("orders", refresh_interval_s=600)

        for _ in range(2):
            schedule_table(table, refresh="never", **BY)

        assert recorded() == [("table.schedule", "orders", "ada")]
        detail = {"old": "10m", "new": "never"}
        assert AuditEvent.objects.get().detail == detail

    def test_a_removal_is_recorded(self) -> None:
        remove_table(new_table("orders"), **BY)

        assert recorded() == [("table.remove", "orders", "ada")]

    def test_a_removal_that_is_refused_leaves_table_and_record(self) -> None:
        table = new_table("orders")

        def guard(_: object) -> list[str]:
            return ["the share sales", "the share partners"]

        guards.guards.register(guard)
        try:
            with pytest.raises(TableInUseError, match="sales, the share partners"):
                remove_table(table, **BY)
        finally:
            guards.guards.remove(guard)

        assert Table.objects.exists()
        assert recorded() == []
