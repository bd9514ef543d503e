from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.pages.actions import Actor, Stamp
from apps.sharing import errors
from apps.sharing.models import Share, SharedTable
from apps.sharing.shares.terms import (
    NewRule,
    Terms,
    add_table,
    narrow_table,
    remove_table,
    update_table,
)
from apps.tables.models import Table
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_unindexed_table,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]
WHO = Actor(name="ada", address="192.0.2.1")
STAMP = Stamp(WHO, NOW)


def actions() -> list[str]:
    return list(AuditEvent.objects.order_by("id").values_list("action", flat=True))


def partitioned(name: str = "orders") -> Table:
    table = new_table(name)
    new_metadata(table, partition_columns=["note"])
    return table


def add(share: Share | None = None, **facts: Any) -> SharedTable:  # noqa: ANN401 (facts)
    table = facts.pop("table", None) or new_table()
    names = {name: facts.pop(name, name[0]) for name in ("schema", "name")}
    terms = Terms(**facts)
    return add_table(
        share or new_share(), table=table, **names, terms=terms, stamp=STAMP
    )


def update(shared: SharedTable, **facts: Any) -> None:  # noqa: ANN401 (facts)
    known: dict[str, Any] = {
        "with_history": True,
        "start_version": None,
        "condition": "",
        "comment": "",
    }
    update_table(shared, Terms(**known | facts), stamp=STAMP)


class TestAddTable:
    def test_puts_a_table_under_a_name_of_its_own(self) -> None:
        table = new_table("crm.orders")

        added = add(table=table, schema="Public", name="Orders")

        assert added.full_name == "Public.Orders"
        assert (added.with_history, added.start_version) == (True, None)
        event = AuditEvent.objects.get()
        assert event.action == "share.add_table"
        assert (event.share, event.table, event.table_id) == (
            "sales",
            "Public.Orders",
            table.id,
        )
        assert event.detail["registered_as"] == "crm.orders"

    def test_a_schema_has_one_spelling_in_a_share(self) -> None:
        share = new_share()
        new_shared_table(share, "Public.orders")

        added = add(share, table=new_table("items"), schema="PUBLIC", name="items")

        assert added.schema == "Public"

    def test_a_name_is_taken_whatever_its_capitals(self) -> None:
        share = new_share()
        new_shared_table(share, "crm.orders")

        with pytest.raises(errors.NameTakenError, match=r"CRM|crm"):
            add(share, table=new_table("items"), schema="CRM", name="Orders")

        assert actions() == []

    def test_one_table_may_be_shared_under_two_names(self) -> None:
        share, table = new_share(), new_table()

        for name in ("a", "b"):
            add(share, table=table, name=name)

        assert share.shared_tables.count() == 2

    @cases(
        "with_history, start_version, reason",
        {
            "negative": (True, -1, "first version is 0"),
            "not there yet": (True, 3, "newest version is 2"),
            "no history to begin": (False, 1, "without history"),
        },
    )
    def test_history_begins_where_there_is_some(
        self, *, with_history: bool, start_version: int, reason: str
    ) -> None:
        with pytest.raises(errors.StartVersionError, match=reason):
            add(with_history=with_history, start_version=start_version)

    def test_a_filter_over_partition_columns_is_kept_as_written(self) -> None:
        added = add(table=partitioned(), condition=" note = 'EU' ")

        assert added.condition == "note = 'EU'"

    @cases(
        "sql, said",
        {
            "below a property": ("recipient.a.b = 1", "recipient"),
            "another each day": ("day < current_date()", "current_date"),
            "no column": ("nothing = 1", "nothing"),
            "half a condition": ("note = ", "cannot be used"),
            "two statements": ("1 = 1; DROP TABLE t", "cannot be used"),
        },
    )
    def test_any_other_filter_is_refused(self, sql: str, said: str) -> None:
        with pytest.raises(errors.ConditionError, match=said) as caught:
            add(table=partitioned(), condition=sql)

        assert caught.value.hint == "The columns are id, note."
        assert not SharedTable.objects.exists()

    @pytest.mark.parametrize(
        "sql", ["id = 1", "note = recipient.region", "note = recipient.NAME OR id > 3"]
    )
    def test_a_condition_may_speak_of_any_column_and_of_recipients(self, sql: str):
        assert add(table=partitioned(), condition=sql).condition == sql

    def test_columns_are_kept_as_the_table_spells_them(self) -> None:
        assert add(table=partitioned(), columns=[" ID "]).columns == ["id"]

    @cases(
        "columns, said",
        {
            "no column": (["pay"], "no column 'pay'"),
            "nothing that files hold": (["note"], "partition column"),
            "a blank name": ([""], "is blank"),
            "spaces": (["id", "  "], "is blank"),
        },
    )
    def test_other_columns_are_refused(self, columns: list[str], said: str) -> None:
        with pytest.raises(errors.ColumnsError, match=said):
            add(table=partitioned(), columns=columns)

    @pytest.mark.parametrize("rule", [{"condition": "note = 'x'"}, {"columns": ["a"]}])
    def test_a_table_that_is_not_indexed_takes_no_rule_and_says_what_to_do(self, rule):
        with pytest.raises(errors.ConditionError, match="has no index yet") as caught:
            add(table=new_unindexed_table(), **rule)

        assert "'deltaweb table refresh orders'" in caught.value.hint


class TestUpdateTable:
    def test_records_each_field_that_changed(self) -> None:
        shared = new_shared_table(table=partitioned())

        update(shared, start_version=1, condition="note IS NULL")

        shared.refresh_from_db()
        assert (shared.start_version, shared.condition) == (1, "note IS NULL")
        events = AuditEvent.objects.order_by("id").values_list("action", "detail")
        assert [(name, at["old"], at["new"]) for name, at in events] == [
            ("share.start_history", None, 1),
            ("share.filter_table", "", "note IS NULL"),
        ]

    @pytest.mark.parametrize(
        ("with_history", "action"),
        [(False, "share.close_history"), (True, "share.open_history")],
    )
    def test_history_is_opened_and_closed(self, action: str, *, with_history: bool):
        update(
            new_shared_table(with_history=not with_history),
            with_history=with_history,
            comment="Ours",
        )

        assert actions() == [action, "share.describe_table"]

    def test_keeps_the_first_version_while_history_is_closed(self) -> None:
        shared = add(start_version=1)

        update_table(shared, Terms(with_history=False), stamp=STAMP)
        update_table(shared, Terms(comment="Ours"), stamp=STAMP)
        update_table(shared, Terms(with_history=True), stamp=STAMP)

        shared.refresh_from_db()
        assert (shared.with_history, shared.start_version) == (True, 1)

    def test_refuses_another_first_version_while_history_is_closed(self) -> None:
        shared = add(with_history=False)

        with pytest.raises(errors.StartVersionError, match="without history"):
            update_table(shared, Terms(start_version=1), stamp=STAMP)

    def test_leaves_what_another_update_has_changed_meanwhile(self) -> None:
        shared = add(table=partitioned())
        other = SharedTable.objects.get()
        update_table(other, Terms(condition="note = 'x'"), stamp=STAMP)

        update_table(shared, Terms(comment="Ours"), stamp=STAMP)

        shared.refresh_from_db()
        assert (shared.condition, shared.comment) == ("note = 'x'", "Ours")

    def test_without_a_change_nothing_is_recorded(self) -> None:
        update(new_shared_table())

        assert actions() == []


class TestNarrowTable:
    def test_keeps_the_part_of_a_rule_that_is_not_named(self) -> None:
        shared, acme = add(table=partitioned()), new_recipient("acme")

        for change in (
            {"condition": "note = 'x'"},
            {"columns": ["id"]},
            {},
        ):
            narrow_table(shared, acme, NewRule(**change), stamp=STAMP)

        rule = shared.rules.get()
        assert (rule.condition, rule.columns) == ("note = 'x'", ["id"])
        assert AuditEvent.objects.filter(action="share.narrow_table").count() == 2

    def test_goes_with_the_last_part_of_its_rule(self) -> None:
        shared, acme = add(table=partitioned()), new_recipient("acme")
        narrow_table(
            shared, acme, NewRule(condition="note = 'x'", columns=["id"]), stamp=STAMP
        )

        narrow_table(shared, acme, NewRule(condition=None), stamp=STAMP)
        kept = [rule.columns for rule in shared.rules.all()]
        narrow_table(shared, acme, NewRule(columns=None), stamp=STAMP)

        assert kept == [["id"]]
        assert not shared.rules.exists()


class TestRemoveTable:
    def test_takes_it_out_and_leaves_it_registered(self) -> None:
        shared = new_shared_table()

        remove_table(shared, stamp=STAMP)

        assert not SharedTable.objects.exists()
        assert Table.objects.exists()
        assert AuditEvent.objects.get().table == "crm.orders"
