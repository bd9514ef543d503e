"""`deltaweb table ...` as scripts use it: answers, JSON, exit codes."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.management import row_output
from apps.tables.models import Table
from deltaweb.samples import make_samples
from tests.factories import NOW, new_table

SAMPLES = {"customers", "device_readings", "orders", "returns"}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    make_samples(folder, NOW)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation in which nothing is set up."""
    return tmp_path_factory.mktemp("home")


def run(*arguments: object) -> str:
    """Return what the command writes to stdout."""
    out, err = io.StringIO(), io.StringIO()
    call_command("table", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue()


def run_json(*arguments: object) -> Any:  # noqa: ANN401 (any document)
    return json.loads(run(*arguments, "--json"))


def refusal(*arguments: object) -> str:
    """Return the sentence with which the command refuses."""
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    assert caught.value.returncode == 1
    return str(caught.value)


@pytest.mark.django_db
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
        assert (table.description, table.restricted) == ("All", True)
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

        assert {table["name"] for table in scanned["registered"]} == SAMPLES
        assert set(again["known"]) == SAMPLES
        assert again["registered"] == []

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

        monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
        assert "Nothing was changed" in refusal("remove", "orders")
        assert Table.objects.exists()

        assert run_json("remove", "orders", "--yes")["removed"]
        assert not Table.objects.exists()

    def test_queues_a_refresh(self) -> None:
        new_table("orders")

        assert run_json("refresh", "orders")["job"]["state"] == "QUEUED"

    def test_a_clash_of_a_scan_is_a_warning(self, lake: Path) -> None:
        new_table("orders", location="/elsewhere")
        err = io.StringIO()

        call_command("table", "scan", str(lake), stdout=io.StringIO(), stderr=err)

        assert "orders is taken" in err.getvalue()
        assert "orders_2" in err.getvalue()


@pytest.mark.django_db
class TestRefreshAndWait:
    """The worker's part is done while the command sleeps."""

    def worker_leaves(self, monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
        def sleep(_: float) -> None:
            Job.objects.update(**fields)

        monkeypatch.setattr("time.sleep", sleep)

    def test_says_which_version_is_indexed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        new_table("orders")
        self.worker_leaves(monkeypatch, state=Job.State.DONE)

        assert "version 2" in run("refresh", "orders", "--wait")

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            pytest.param(
                {"state": Job.State.FAILED, "error": "Commit 5 is missing."},
                "Commit 5 is missing.",
                id="failed",
            ),
            pytest.param(
                {"state": Job.State.CANCELLED}, "was cancelled", id="cancelled"
            ),
        ],
    )
    def test_a_job_without_a_result_is_exit_1(
        self, monkeypatch: pytest.MonkeyPatch, fields: dict[str, str], sentence: str
    ) -> None:
        new_table("orders")
        self.worker_leaves(monkeypatch, **fields)

        assert sentence in refusal("refresh", "orders", "--wait")

    def test_the_json_of_a_failed_job_has_its_code(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        new_table("orders")
        self.worker_leaves(
            monkeypatch,
            state=Job.State.FAILED,
            error="Commit 5 is missing.",
            error_code="log-gap",
            error_hint="Restore it.",
        )
        out = io.StringIO()

        with pytest.raises(CommandError):
            call_command("table", "refresh", "orders", "--wait", "--json", stdout=out)

        assert json.loads(out.getvalue()) == {
            "error": "log-gap",
            "message": "Commit 5 is missing.",
            "hint": "Restore it.",
        }

    def test_does_not_wait_for_a_worker_that_is_not_there(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        new_table("orders")
        monkeypatch.setattr(
            "apps.tables.management.commands.table.NO_WORKER_AFTER_S", -1.0
        )

        assert "No worker is running" in refusal("refresh", "orders", "--wait")


class TestReaders:
    def test_show_reads_a_location_without_a_database(self, lake: Path) -> None:
        shown = run_json("show", lake / "orders")

        assert shown["name"] is None
        assert shown["location"] == str(lake / "orders")
        assert shown["timestamp"].endswith("Z")
        assert shown["protocol"]["min_reader_version"] == 1
        assert shown["protocol"]["min_writer_version"] == 2
        assert shown["metadata"]["partition_columns"] == shown["partition_columns"]
        assert shown["num_files"] > 0
        assert shown["size_bytes"] > 0

    def test_show_lists_the_files(self, lake: Path) -> None:
        shown = run_json("show", lake / "orders", "--files")

        assert len(shown["files"]) == shown["num_files"]
        assert sum(file["size"] for file in shown["files"]) == shown["size_bytes"]
        assert set(shown["files"][0]["partition_values"]) == set(
            shown["partition_columns"]
        )
        assert shown["files"][0]["path"] in run("show", lake / "orders", "--files")

    def test_show_travels_in_time(self, lake: Path) -> None:
        first = run_json("show", lake / "customers", "--version", 0)
        at = run_json("show", lake / "customers", "--timestamp", first["timestamp"])

        assert first["version"] == at["version"] == 0

    @pytest.mark.django_db
    def test_show_knows_a_table_by_its_name(self, lake: Path) -> None:
        new_table("sales.orders", location=str(lake / "orders"))

        assert run_json("show", "sales.orders")["name"] == "sales.orders"

    def test_history_is_newest_first(self, lake: Path) -> None:
        commits = run_json("history", lake / "customers")
        newest = run_json("history", lake / "customers", "--limit", 2)

        versions = [commit["version"] for commit in commits]
        assert versions == sorted(versions, reverse=True)
        assert newest == commits[:2]
        assert commits[-1]["operation"] == "CREATE TABLE"
        assert "CREATE TABLE" in run("history", lake / "customers")

    def test_rows_come_as_a_table_as_csv_and_as_json(self, lake: Path) -> None:
        orders = lake / "orders"
        as_json = run_json("rows", orders, "--limit", 3)
        header, *rows = csv.reader(
            io.StringIO(run("rows", orders, "--limit", 3, "--format", "csv"))
        )

        assert json.loads(run("rows", orders, "--limit", 3, "--format", "json")) == (
            as_json
        )
        assert [row[0] for row in rows] == [row[header[0]] for row in as_json]
        assert header == list(as_json[0])
        assert run("rows", orders, "--limit", 3).split("\n")[0].split() == header

    def test_rows_for_a_script_are_all_rows(self, lake: Path) -> None:
        shown = run("rows", lake / "orders").strip().split("\n")

        assert len(shown) == 51
        assert len(run_json("rows", lake / "orders")) > 50

    def test_rows_keep_the_columns_and_the_predicate(self, lake: Path) -> None:
        schema = run_json("show", lake / "customers")["metadata"]["schema_string"]
        column = json.loads(schema)["fields"][0]["name"]

        rows = run_json(
            "rows", lake / "customers", "--columns", column, "--where", f"{column} = 1"
        )

        assert rows == [{column: "1"}]

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            pytest.param(("--version", "9999"), "has no version 9999", id="version"),
            pytest.param(
                ("--timestamp", "1999-01-01T00:00:00Z"), "at or before", id="too early"
            ),
            pytest.param(("--timestamp", "yesterday"), "is not a time", id="no time"),
        ],
    )
    def test_an_unknown_version_or_time_is_one_sentence(
        self, lake: Path, arguments: tuple[str, str], sentence: str
    ) -> None:
        for command in ("show", "rows"):
            assert sentence in refusal(command, lake / "orders", *arguments)

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            pytest.param(("--columns", "nope"), "no column 'nope'", id="column"),
            pytest.param(("--where", "nope = 1"), "nope", id="predicate's column"),
            pytest.param(("--where", "(("), "filter cannot be used", id="predicate"),
        ],
    )
    def test_rows_that_cannot_be_asked_for_are_one_sentence(
        self, lake: Path, arguments: tuple[str, str], sentence: str
    ) -> None:
        assert sentence in refusal("rows", lake / "orders", *arguments)

    @pytest.mark.django_db
    def test_what_is_neither_a_name_nor_a_folder_is_said_to_be_neither(self) -> None:
        assert "No table is named 'nothing'" in refusal("show", "nothing")
        assert "does not exist" in refusal("history", "/nothing/here")

    def test_a_newer_protocol_shows_its_metadata_with_a_warning(
        self, tmp_path: Path
    ) -> None:
        schema = json.dumps({"type": "struct", "fields": []})
        actions: list[dict[str, Any]] = [
            {"protocol": {"minReaderVersion": 99, "minWriterVersion": 99}},
            {
                "metaData": {
                    "id": "x",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": schema,
                    "partitionColumns": [],
                    "configuration": {},
                }
            },
        ]
        log = tmp_path / "_delta_log"
        log.mkdir()
        lines = "\n".join(json.dumps(action) for action in actions)
        (log / f"{0:020}.json").write_text(lines)

        shown = run_json("show", tmp_path)

        assert shown["protocol"]["min_reader_version"] == 99
        assert shown["num_files"] is None
        assert "99" in shown["warning"]
        assert "99" in refusal("rows", tmp_path)


class TestRowOutput:
    ROWS = pa.table(
        {
            "long": pa.array([2**60 + 1, None], pa.int64()),
            "decimal": pa.array(["12345678901234567890.10", None]).cast(
                pa.decimal128(38, 2)
            ),
            "text": ["a,b", ""],
            "at": pa.array([0, 1], pa.timestamp("us", "UTC")),
            "bytes": pa.array([b"\x00\xff", None]),
            "double": [float("nan"), float("-inf")],
            "nested": pa.array(
                [{"id": 2**60 + 1, "tags": ["x"]}, None],
                pa.struct([("id", pa.int64()), ("tags", pa.list_(pa.string()))]),
            ),
        }
    )

    def test_json_keeps_longs_and_decimals_as_text(self) -> None:
        first, second = row_output.json_rows(self.ROWS)

        assert first["long"] == "1152921504606846977"
        assert first["decimal"] == "12345678901234567890.10"
        assert first["nested"] == {"id": "1152921504606846977", "tags": ["x"]}
        assert first["at"] == "1970-01-01T00:00:00Z"
        assert first["bytes"] == "00ff"
        assert (first["double"], second["double"]) == ("NaN", "-Infinity")
        assert second["long"] is None

    def test_csv_is_exact_and_quotes_what_it_must(self) -> None:
        lines = list(row_output.csv_lines(self.ROWS))
        rows = list(csv.reader(lines))

        assert rows[1][:3] == ["1152921504606846977", "12345678901234567890.10", "a,b"]
        assert rows[2][:2] == ["", ""]

    def test_a_table_for_people_shows_nulls(self) -> None:
        lines = list(row_output.row_lines(self.ROWS))

        assert "NULL" in lines[2]
        assert "1152921504606846977" in lines[1]


class TestProcess:
    def deltaweb(
        self, home: Path, *arguments: object, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "DELTAWEB_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
        }
        return subprocess.run(
            [sys.executable, "-m", "deltaweb", "table", *map(str, arguments)],
            env=environment,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def test_reads_a_table_before_anything_is_set_up(
        self, home: Path, lake: Path
    ) -> None:
        shown = self.deltaweb(home, "show", lake / "orders", "--json", cwd=Path("/"))

        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["version"] >= 0
        assert shown.stderr == ""

    def test_a_domain_error_is_exit_1_and_one_line(self, home: Path) -> None:
        refused = self.deltaweb(home, "show", "/nothing")

        assert refused.returncode == 1
        assert refused.stdout == ""
        assert len(refused.stderr.strip().split("\n")) == 1
        assert "Traceback" not in refused.stderr

    @pytest.mark.parametrize(
        "arguments", [("show",), ("bogus",), ("rows", "x", "--limit", "-1")]
    )
    def test_bad_usage_is_exit_2(self, home: Path, arguments: tuple[str, ...]) -> None:
        assert self.deltaweb(home, *arguments).returncode == 2

    def test_no_reader_loads_spark(self, home: Path, lake: Path) -> None:
        code = (
            "import sys, django; django.setup()\n"
            "from django.core.management import call_command\n"
            f"call_command('table', 'rows', {str(lake / 'orders')!r}, limit=1)\n"
            "sys.exit('pyspark' in sys.modules)"
        )
        environment = {
            **os.environ,
            "DELTAWEB_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
        }

        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, timeout=120, check=False
        )

        assert done.returncode == 0
