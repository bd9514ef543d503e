"""The changed rows that a recipient sees: those that the protocol gives it."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.sharing.models import BrowserSession, SharedTable
from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from tests.functional.portal.visitors import Visitor, cells, path_of, text_of, work
from tests.functional.sharing_api.calls import Caller
from tests.functional.sharing_api.ruled import Ruled, new_staff, rows
from tests.support import cases
from tests.support.pages.factories import (
    new_metadata,
    new_share,
    new_shared_table,
    new_table,
)

KINDS = {
    "inserted": ["insert"],
    "deleted": ["delete"],
    "updated": ["update_preimage", "update_postimage"],
    "updated from": ["update_preimage"],
    "updated to": ["update_postimage"],
}


@pytest.fixture
def staff(db: None, tmp_path: Path) -> Ruled:  # noqa: ARG001 (a database)
    """The table `hr.staff` with a change feed."""
    root = tmp_path / "lake" / "staff"
    table = new_table("hr.staff", location=str(root), version=3, num_records=15)
    shared = new_shared_table(
        new_share("People", in_browser=True), "hr.staff", table=table
    )
    properties = {CHANGE_DATA_FEED_PROPERTY: "true"}
    return Ruled(new_staff(root, properties=properties), shared)


def change(staff: Ruled) -> None:
    """Make versions 4 to 8."""
    staff.table.update({"region": "'US'"}, "id = 1")
    staff.table.update({"region": "'EU'"}, "id = 5")
    staff.table.update({"note": "'new'"}, "id IN (2, 6)")
    staff.table.delete("id IN (3, 7)")
    more = [rows(20, 1, "EU"), rows(21, 1, "US", "secret")]
    staff.table.append(pa.concat_tables(more))


def seen(visitor: Visitor, staff: Ruled) -> list[tuple[int, str, int]]:
    """The changes on the page: version, kind and id."""
    path = f"{path_of(staff.shared)}/changes"
    visitor.get(path)
    work()
    found = cells(visitor.get(path))
    return sorted(
        (int(row[1]), kind, int(row[2])) for row in found for kind in KINDS[row[0]]
    )


def told(visitor: Visitor, staff: Ruled, first: int) -> list[tuple[int, str, int]]:
    """The changes that the protocol gives: the same."""
    caller = Caller(visitor.token, visitor.secret)
    found = staff.changes(caller, first)
    files = {"add": "insert", "remove": "delete"}
    return sorted((v, files.get(kind, kind), row["id"]) for v, kind, row in found)


class TestChanges:
    @cases(
        "condition, columns",
        {
            "the whole table": ("", ()),
            "some rows": ("region = 'EU' AND id >= 0", ()),
            "some columns": ("", ("id", "note")),
            "some of both": ("region = recipient.region", ("id", "note")),
        },
    )
    def test_are_those_of_the_protocol(
        self, acme: Visitor, staff: Ruled, condition: str, columns: tuple[str, ...]
    ) -> None:
        staff.rule(condition, *columns)
        staff.prepare()
        change(staff)
        staff.prepare()
        acme.sign_in()

        found = seen(acme, staff)

        first = 0 if not condition and not columns else 4
        assert found == told(acme, staff, first)
        assert {version for version, _, _ in found} >= {6, 7, 8}
        if condition:
            page = acme.get(f"{path_of(staff.shared)}/changes").content.decode()
            for hidden in ("secret-7", "secret-21", "7000006"):
                assert hidden not in page

    def test_have_the_values_before_and_after_in_one_cell(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        staff.table.update({"note": "'new'"}, "id = 2")
        acme.sign_in()
        path = f"{path_of(staff.shared)}/changes"
        acme.get(path)
        work()

        page = acme.get(path).content.decode()

        assert re.findall(r"<del>(.*?)</del>.*?<ins>(.*?)</ins>", page) == [
            ("n-2", "new")
        ]
        kinds = [row[0] for row in cells(acme.get(path))]
        assert kinds == ["updated"] + ["inserted"] * 15

    def test_of_two_rows_that_a_rule_hides_in_turn_are_not_one_update(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        staff.rule("region = 'EU' AND id >= 0")
        staff.prepare()
        staff.table.update(
            {"region": "CASE WHEN id = 1 THEN 'US' ELSE 'EU' END"}, "id IN (1, 5)"
        )
        staff.prepare()
        acme.sign_in()

        found = seen(acme, staff)

        assert found == told(acme, staff, 4)
        assert found == [(4, "delete", 1), (4, "insert", 5)]
        assert (
            "<del>" not in acme.get(f"{path_of(staff.shared)}/changes").content.decode()
        )

    def test_begin_at_the_last_visit(self, acme: Visitor, staff: Ruled) -> None:
        change(staff)
        times = staff.table.commit_times()
        acme.sign_in()
        moment = datetime.fromtimestamp((times.time_ms(7) or 0) / 1000, tz=UTC)
        BrowserSession.objects.update(previous_visit_at=moment)

        assert {version for version, _, _ in seen(acme, staff)} == {7, 8}

    def test_begin_where_the_shared_history_does(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        change(staff)
        SharedTable.objects.update(start_version=6)
        acme.sign_in()

        assert {version for version, _, _ in seen(acme, staff)} == {6, 7, 8}

    def test_are_not_there_where_the_history_is_not_shared(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        change(staff)
        SharedTable.objects.update(with_history=False)
        acme.sign_in()

        text = text_of(acme.get(f"{path_of(staff.shared)}/changes"))

        assert "Changes are not shared" in text
        assert "Changes" not in text_of(acme.get(path_of(staff.shared)))
        assert not AuditEvent.objects.filter(action="portal.changes").exists()

    def test_are_none_after_the_newest_version(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        BrowserSession.objects.update(
            previous_visit_at=timezone.now() + timedelta(minutes=1)
        )

        text = text_of(acme.get(f"{path_of(staff.shared)}/changes"))

        assert "No row that you see has changed" in text

    def test_say_why_there_are_none(self, acme: Visitor, staff: Ruled) -> None:
        staff.table.set_properties({CHANGE_DATA_FEED_PROPERTY: "false"})
        staff.table.update({"note": "'new'"}, "id = 1")
        acme.sign_in()
        path = f"{path_of(staff.shared)}/changes"
        acme.get(path)
        work()

        text = text_of(acme.get(path))

        assert "There are no changes to show" in text
        assert str(staff.table.root) not in text

    def test_are_recorded_and_counted(self, acme: Visitor, staff: Ruled) -> None:
        change(staff)
        acme.sign_in()
        found = seen(acme, staff)

        (event,) = AuditEvent.objects.filter(action="portal.changes")
        assert (event.recipient, event.table, event.status) == ("acme", "staff", 200)
        assert event.num_rows == len({(version, row) for version, _, row in found})
        assert event.size_bytes

    def test_are_not_kept_by_every_table(self, acme: Visitor, staff: Ruled) -> None:
        new_metadata(staff.shared.table)
        acme.sign_in()

        text = text_of(acme.get(f"{path_of(staff.shared)}/changes"))

        assert "Changes are not kept" in text

    def test_begin_where_the_feed_does(self, acme: Visitor, staff: Ruled) -> None:
        change(staff)
        new_metadata(staff.shared.table)
        on = {CHANGE_DATA_FEED_PROPERTY: "true"}
        new_metadata(staff.shared.table, version=7, configuration=on)
        acme.sign_in()

        assert {version for version, _, _ in seen(acme, staff)} == {7, 8}
