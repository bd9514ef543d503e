"""Scans of a lake: what they register, mark, pass over and remember."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.catalogue.lakes.scan_job import (
    SCAN_ROOT,
    request_due_scans,
    request_scan,
)
from apps.tables.catalogue.lakes.scanning import scan_lake
from apps.tables.catalogue.lakes.services import LakeRule, add_lake, change_lake
from apps.tables.catalogue.registration import register_table, remove_table
from apps.tables.errors import ScanRootError
from apps.tables.models import Lake, Table
from tests.support.pages.factories import NOW

pytestmark = pytest.mark.django_db
STAMP = Stamp(COMMAND_LINE, NOW)
LATER = NOW + timedelta(hours=2)


def make_tables(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name / "_delta_log").mkdir(parents=True)
    return folder


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    make_tables(tmp_path, "orders", "sales/items", "sales/days")
    return add_lake(str(tmp_path), LakeRule(schedule="1h"), stamp=STAMP)


def names_of(lake: Lake) -> list[str]:
    return [table.full_name for table in lake.tables.all()]


class TestScanLake:
    def test_registers_and_remembers_what_it_saw(self, lake: Lake) -> None:
        report = scan_lake(lake, stamp=STAMP)

        lake.refresh_from_db()
        assert names_of(lake) == ["orders", "sales.days", "sales.items"]
        assert (lake.state, lake.num_tables, lake.num_folders) == ("scanned", 3, 5)
        assert lake.scan_due_at == NOW + timedelta(hours=1)
        told = report.shown()
        assert (told.found, told.registered, told.num_known) == (3, 3, 0)
        assert Job.objects.filter(kind="tables.index_log").count() == 3
        events = AuditEvent.objects.values_list("action", flat=True)
        assert sorted(events) == ["lake.add", "lake.scan"] + ["table.register"] * 3

    def test_registers_tables_while_it_looks_for_more(self, lake: Lake) -> None:
        seconds = iter(range(0, 1_000, 10))
        counts: list[tuple[str, int]] = []

        report = scan_lake(
            lake,
            stamp=STAMP,
            on_progress=lambda step, *_: counts.append((step, lake.tables.count())),
            clock=lambda: next(seconds),
        )

        assert counts[0][0] == "Looking for tables"
        assert 0 < counts[-1][1] < 4
        assert {step for step, count in counts if count} == {"Looking for tables"}
        assert len(report.registered) == 3
        assert names_of(lake) == ["orders", "sales.days", "sales.items"]

    def test_registers_the_first_tables_at_once_and_others_later(self, lake: Lake):
        counts: list[int] = []

        scan_lake(
            lake,
            stamp=STAMP,
            on_progress=lambda *_: counts.append(lake.tables.count()),
            clock=lambda: 0.0,
        )

        assert sorted(set(counts)) == [0, 1]
        assert len(names_of(lake)) == 3

    def test_keeps_what_it_registered_before_it_failed(self, lake: Lake) -> None:
        def stop_at_second(step: str, done: int, *_: object) -> None:
            del step
            if done > 1:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            scan_lake(lake, stamp=STAMP, on_progress=stop_at_second)

        assert len(names_of(lake)) == 1
        assert len(scan_lake(lake, stamp=STAMP).registered) == 2

    def test_a_second_scan_registers_what_is_new(self, lake: Lake) -> None:
        scan_lake(lake, stamp=STAMP)
        make_tables(Path(lake.url), "new")

        report = scan_lake(lake, stamp=Stamp(COMMAND_LINE, LATER))

        assert [table.full_name for table in report.registered] == ["new"]
        assert (len(report.known), len(names_of(lake))) == (3, 4)

    def test_a_table_that_is_gone_is_marked_until_it_is_back(self, lake: Lake) -> None:
        scan_lake(lake, stamp=STAMP)
        folder = Path(lake.url) / "orders"
        shutil.rmtree(folder)

        assert scan_lake(lake, stamp=Stamp(COMMAND_LINE, LATER)).vanished == ["orders"]
        assert Table.objects.get(name="orders").vanished_at == LATER
        assert scan_lake(lake, stamp=Stamp(COMMAND_LINE, LATER)).vanished == []
        assert not Table.objects.due_for_probe(LATER).filter(name="orders").exists()

        make_tables(folder.parent, "orders")
        assert scan_lake(lake, stamp=Stamp(COMMAND_LINE, LATER)).returned == ["orders"]
        assert Table.objects.get(name="orders").vanished_at is None

    def test_a_table_that_was_removed_comes_back_when_somebody_asks(self, lake: Lake):
        scan_lake(lake, stamp=STAMP)
        remove_table(Table.objects.get(name="orders"), stamp=STAMP)

        assert scan_lake(lake, stamp=Stamp(COMMAND_LINE, LATER)).registered == []
        asked = scan_lake(lake, stamp=Stamp(COMMAND_LINE, LATER), is_asked=True)

        assert [table.name for table in asked.registered] == ["orders"]

    def test_a_table_that_was_registered_by_hand_becomes_the_lakes(self, lake: Lake):
        mine = register_table(name="mine", location=f"{lake.url}/orders", stamp=STAMP)

        report = scan_lake(lake, stamp=STAMP)

        mine.refresh_from_db()
        assert mine.lake == lake
        assert report.known == [mine]

    def test_puts_every_table_into_the_namespace_that_is_given(self, lake: Lake):
        change_lake(lake, LakeRule(namespace="raw"), stamp=STAMP)

        scan_lake(lake, stamp=STAMP)

        assert names_of(lake) == ["raw.orders", "raw.sales_days", "raw.sales_items"]

    def test_a_lake_that_is_gone_keeps_its_tables_and_says_why(self, lake: Lake):
        scan_lake(lake, stamp=STAMP)
        shutil.rmtree(lake.url)

        with pytest.raises(ScanRootError):
            scan_lake(lake, stamp=Stamp(COMMAND_LINE, LATER))

        lake.refresh_from_db()
        assert (lake.state, lake.error_code) == ("failed", "scan-root-invalid")
        assert "does not exist" in lake.error
        assert not Table.objects.exclude(vanished_at=None).exists()


class TestSchedule:
    def test_a_due_lake_is_scanned_once(self, lake: Lake) -> None:
        assert request_due_scans(now=NOW) == 0
        assert request_due_scans(now=LATER) == 1
        assert request_due_scans(now=LATER) == 1

        (job,) = Job.objects.filter(kind="tables.scan_root")
        assert (job.parameters["root"], job.requested_by) == (lake.url, None)

    def test_what_it_finds_is_recorded_as_its_owners(self, lake: Lake) -> None:
        lake.owner = User.objects.create_user("ada", role=User.Role.ADMIN)
        lake.save()
        request_due_scans(now=LATER)

        SCAN_ROOT.work(Job.objects.get(kind="tables.scan_root").id)

        found = AuditEvent.objects.filter(action__in=["table.register", "lake.scan"])
        assert [event.actor for event in found] == ["ada"] * 4

    def test_one_that_is_scanned_only_when_asked_is_never_due(self, lake: Lake) -> None:
        change_lake(lake, LakeRule(schedule="never"), stamp=STAMP)

        assert request_due_scans(now=LATER) == 0

    def test_whoever_asks_while_it_is_scanned_gets_that_scan(self, lake: Lake) -> None:
        first = request_scan(lake.url, stamp=STAMP)

        assert request_scan(f"{lake.url}/", stamp=STAMP) == first


class TestServices:
    def test_a_lake_is_added_once(self, lake: Lake) -> None:
        again = add_lake(f"{lake.url}/", stamp=STAMP)

        assert again == lake
        assert again.scan_interval_s == 3600

    def test_what_is_changed_is_recorded_by_field(self, lake: Lake) -> None:
        change_lake(lake, LakeRule(namespace="raw"), stamp=STAMP)
        change_lake(lake, LakeRule(schedule="1d"), stamp=STAMP)

        events = AuditEvent.objects.exclude(action="lake.add").order_by("id")
        told = [(event.action, event.detail["new"]) for event in events]
        assert told == [("lake.set_namespace", "raw"), ("lake.schedule", "1d")]
