"""Tables are added, scanned for, listed, scheduled, renamed and removed by commands."""

from pathlib import Path

import pytest
from django.core.management import CommandError
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.models import Lake, Table
from tests.functional.command_line import Ran, Terminal
from tests.functional.table_command.commands import refusal, run, run_json
from tests.support.pages.factories import new_table

pytestmark = pytest.mark.django_db
SAMPLES = {"customers", "device_readings", "orders", "returns"}


class TestCatalogue:
    def test_adds_a_table_after_looking_at_it(self, lake: Path) -> None:
        added = run_json(
            "add",
            "sales.orders",
            lake / "orders",
            "--description",
            "All",
            "--restricted",
        )

        table = Table.objects.get()
        assert added["name"] == table.full_name == "sales.orders"
        assert added["location"] == table.location == str(lake / "orders")
        assert added["found"]["version"] >= 0
        assert (table.description, table.is_private) == ("All", True)
        assert Job.objects.get().kind == "tables.index_log"

    def test_a_relative_location_starts_from_the_folder_of_the_shell(
        self, lake: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(lake)

        assert run_json("add", "o", "orders")["location"] == str(lake / "orders")

    def test_adds_nothing_that_is_no_table(self, tmp_path: Path) -> None:
        assert "is not a Delta table" in refusal("add", "t", tmp_path)
        assert "does not exist" in refusal("add", "t", tmp_path / "nothing")
        assert "is not a table's name" in refusal("add", "a b", tmp_path)
        assert not Table.objects.exists()

    def test_scans_a_folder(self, lake: Path) -> None:
        scanned = run_json("scan", lake)
        again = run_json("scan", lake)

        assert (scanned["found"], scanned["registered"]) == (4, 4)
        assert {table["name"] for table in scanned["tables"]} == SAMPLES
        assert set(again["known"]) == SAMPLES
        assert (again["registered"], again["tables"]) == (0, [])

    def test_scans_a_folder_into_a_namespace_again_and_again(self, lake: Path) -> None:
        seen = run_json("scan", lake, "--namespace", "raw", "--dry-run")
        run("scan", lake, "--namespace", "raw", "--repeat", "1h")

        names = {f"raw.{name}" for name in SAMPLES}
        assert {table["name"] for table in seen["tables"]} == names
        assert {table.full_name for table in Table.objects.all()} == names
        assert Lake.objects.get().scan_interval_s == 3600

    def test_adds_many_or_none(self, lake: Path, tmp_path: Path) -> None:
        pairs = [part for name in sorted(SAMPLES) for part in (name, str(lake / name))]

        assert "no location" in refusal("add", *pairs, "more")
        assert "does not exist" in refusal("add", *pairs, "more", tmp_path / "gone")
        assert "is already" in refusal("add", *pairs, *pairs[:2])
        assert not Table.objects.exists()
        added = run_json("add", *pairs)

        assert [table["name"] for table in added] == sorted(SAMPLES)
        assert {table.location for table in Table.objects.all()} == {*pairs[1::2]}

    def test_lists_tables_with_the_promised_fields(self) -> None:
        new_table("sales.orders")

        tables = run_json("list")

        assert tables[0] == {
            **tables[0],
            "name": "sales.orders",
            "location": "/lake/sales/orders",
            "version": 2,
            "state": "INDEXED",
            "indexed_at": "2026-11-21T12:00:00Z",
        }
        assert "sales.orders" in run("list")

    def test_an_empty_list_says_what_to_do(self) -> None:
        assert "table add" in run("list")
        assert run_json("list") == []

    def test_sets_and_shows_a_schedule(self, settings: Settings) -> None:
        settings.PROBE_INTERVAL_S = 60
        new_table("sales.orders")

        assert "every minute (the default)" in run("schedule", "sales.orders")
        assert run_json("schedule", "sales.orders", "10m") == {
            "name": "sales.orders",
            "refresh": "10m",
            "refresh_interval_s": 600,
        }
        assert "every 10 minutes." in run("schedule", "sales.orders")
        assert "only when asked." in run("schedule", "sales.orders", "never")
        assert Table.objects.get().refresh_interval_s == 0
        run("schedule", "sales.orders", "default")
        assert Table.objects.get().refresh_interval_s is None

    def test_an_interval_that_is_not_offered_is_bad_usage(self) -> None:
        new_table("orders")

        with pytest.raises(CommandError, match="invalid choice: '7s'"):
            run("schedule", "orders", "7s")

        assert Table.objects.get().refresh_interval_s is None

    def test_renames(self) -> None:
        new_table("orders")

        assert run_json("rename", "orders", "sales.o")["name"] == "sales.o"
        assert "No table is named 'orders'" in refusal("rename", "orders", "x")

    def test_offers_a_table_of_the_same_name_elsewhere(self) -> None:
        new_table("sales.orders")

        assert "Did you mean sales.orders?" in refusal("remove", "orders", "--yes")
        assert "Did you mean sales.orders?" in refusal("show", "orders")

    def test_removes_only_when_told_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        new_table("orders")

        monkeypatch.setattr("sys.stdin", Terminal("n\n"))
        assert "Nothing was changed" in refusal("remove", "orders")
        assert Table.objects.exists()

        assert run_json("remove", "orders", "--yes")["removed"]
        assert not Table.objects.exists()

    def test_queues_a_refresh(self) -> None:
        new_table("orders")

        assert run_json("refresh", "orders")["job"]["state"] == "QUEUED"

    def test_a_clash_of_a_scan_is_a_warning(self, lake: Path) -> None:
        new_table("orders", location="/elsewhere")

        warned = Ran("table", "scan", lake).stderr

        assert "orders is taken" in warned
        assert "orders_2" in warned
