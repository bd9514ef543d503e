"""What a table is, and which of its versions and files stay, by commands."""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.audit.models import AuditEvent
from deltaweb.delta.protocol.schema import type_text
from deltaweb.table import DeltaTable
from tests.functional.table_command.commands import refusal, run, run_json
from tests.support.logs.spelled_partitions import spelled

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders(lake: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lake / "orders", tmp_path / "orders"))


def test_properties_are_set_and_taken_away(orders: Path) -> None:
    before = DeltaTable(str(orders)).latest_version()

    done = run_json("set", orders, "team=blue", "delta.logRetentionDuration=9 days")
    text = run("unset", orders, "team")

    assert (done["version"], done["num_added_files"]) == (before + 1, 0)
    assert text == f"Committed version {before + 2}.\n"
    assert "key=value" in refusal("set", orders, "team")
    assert "true or false" in refusal("set", orders, "delta.appendOnly=maybe")


def test_columns_are_added_and_described(orders: Path) -> None:
    run_json("add-column", orders, "remark STRING COMMENT 'said'")
    run_json("comment", orders, "what was said", "--column", "remark")
    run_json("comment", orders, "all orders")

    table = DeltaTable(str(orders)).snapshot()
    assert table.schema.fields[-1].metadata == {"comment": "what was said"}
    assert table.metadata.description == "all orders"
    assert "there is no type of that name" in refusal("add-column", orders, "x NOTHING")


def test_columns_are_renamed_and_dropped_where_they_are_mapped(orders, tmp_path):
    assert "columnMapping" in refusal("rename-column", orders, "order_id", "id")
    table = tmp_path / "visits"
    run_json("create", "visits", table, "--schema", "id BIGINT, at DATE")
    run_json("upgrade", table, "--reader", "2", "--writer", "5", "--yes")
    run_json("set", table, "delta.columnMapping.mode=name")

    run_json("rename-column", table, "id", "visit")
    run_json("drop-column", table, "at", "--yes")

    assert DeltaTable(str(table)).snapshot().schema.names == ("visit",)


def test_a_table_is_made_of_the_columns_of_a_file(tmp_path: Path) -> None:
    file, table = tmp_path / "visits.csv", tmp_path / "visits"
    file.write_text("id;day;text\n1;31.01.2026;a\n")
    how = ("--dates", "dmy", "--types", "id INT NOT NULL", "--partition-by", "day")

    run_json("create", "visits", table, "--schema-of", file, *how)

    snapshot = DeltaTable(str(table)).snapshot()
    columns = [(c.name, type_text(c.data_type)) for c in snapshot.schema.fields]
    assert columns == [("id", "int"), ("day", "date"), ("text", "string")]
    assert not snapshot.schema.fields[0].nullable
    assert snapshot.metadata.partition_columns == ["day"]
    assert snapshot.num_files == 0
    (event,) = AuditEvent.objects.filter(table="visits")
    assert (event.action, event.detail["version"]) == ("table.create", 0)
    assert event.detail["columns"] == ["id", "day", "text"]
    gone = tmp_path / "gone.csv"
    other = ("create", "others", tmp_path / "o", "--schema-of")
    assert f"{gone} cannot be imported: there is no such file" in refusal(*other, gone)
    typed = (
        "create",
        "others",
        tmp_path / "o",
        "--schema",
        "a INT",
        "--types",
        "a INT",
    )
    assert "it goes with --schema-of" in refusal(*typed)


def test_columns_are_widened_where_types_may_change(orders: Path, tmp_path: Path):
    said = refusal("widen-column", orders, "order_id", "DOUBLE")
    assert "enableTypeWidening = true" in said
    table = tmp_path / "visits"
    run_json("create", "visits", table, "--schema", "id INT, tags ARRAY<INT>")
    run_json("upgrade", table, "--reader", "3", "--writer", "7", "--yes")
    run_json("set", table, "delta.feature.typeWidening=supported")
    run_json("set", table, "delta.enableTypeWidening=true")

    run_json("widen-column", table, "id", "BIGINT")
    run_json("widen-column", table, "tags.element", "DOUBLE")

    columns = DeltaTable(str(table)).snapshot().schema.fields
    assert [type_text(c.data_type) for c in columns] == ["bigint", "array<double>"]
    assert "can become" in refusal("widen-column", table, "id", "INT")


def test_a_constraint_waits_for_the_protocol(orders: Path) -> None:
    said = refusal("constraint", orders, "add", "some", "order_id > 0")

    assert "from reader 1, writer 2 to reader 1, writer 3" in said
    assert "checkConstraints" in said
    assert "`--upgrade`" in said
    assert "no constraint 'some'" in refusal("constraint", orders, "drop", "some")


def test_a_protocol_is_raised_when_that_is_asked_for(tmp_path: Path) -> None:
    table = tmp_path / "visits"
    run_json("create", "visits", table, "--schema", "id BIGINT")
    run_json("upgrade", table, "--writer", "3", "--yes")
    run_json("constraint", table, "add", "any", "id > 0")

    snapshot = DeltaTable(str(table)).snapshot()
    assert snapshot.protocol.min_writer_version == 3
    assert snapshot.metadata.configuration["delta.constraints.any"] == "id > 0"
    assert "was not changed" in refusal("upgrade", table, "--writer", "2", "--yes")


def test_a_constraint_brings_the_protocol_that_it_needs(tmp_path: Path) -> None:
    table = tmp_path / "visits"
    run_json("create", "visits", table, "--schema", "id BIGINT")
    add = ("constraint", table, "add", "any", "id > 0", "--upgrade")

    told = run(*add, "--dry-run")
    done = run_json(*add)

    assert "writer 2 -> 3; it brings checkConstraints" in told
    assert "no longer write: Spark with Delta before 0.8 (checkConstraints)." in told
    snapshot = DeltaTable(str(table)).snapshot()
    assert done["version"] == snapshot.version == 1
    assert snapshot.protocol.min_writer_version == 3
    assert snapshot.metadata.configuration["delta.constraints.any"] == "id > 0"


def test_properties_and_columns_bring_the_protocol_that_they_need(tmp_path: Path):
    table = tmp_path / "visits"
    run_json("create", "visits", table, "--schema", "id BIGINT")

    for change in (
        ("set", table, "delta.enableChangeDataFeed=true"),
        ("set", table, "delta.columnMapping.mode=name"),
        ("add-column", table, "at TIMESTAMP_NTZ"),
    ):
        assert "`--upgrade`" in refusal(*change)
        run_json(*change, "--upgrade")

    protocol = DeltaTable(str(table)).snapshot().protocol
    assert list(protocol.reader_features or ()) == ["columnMapping", "timestampNtz"]


def test_a_version_comes_back(orders: Path) -> None:
    table = DeltaTable(str(orders))
    newest = table.latest_version()

    plan = run_json("restore", orders, "--version", "1", "--dry-run")
    assert plan["base_version"] == newest == table.latest_version()
    done = run_json("restore", orders, "--version", "1", "--yes")

    assert done["version"] == newest + 1
    assert done["num_removed_files"] == plan["num_removed_files"]
    assert table.snapshot().num_files == table.snapshot(1).num_files
    assert "--version" in refusal("restore", orders)


def test_files_that_nobody_needs_go(orders: Path) -> None:
    (orders / "orphan.parquet").write_bytes(b"nothing")
    options = ["--retention", "0h", "--allow-short-retention"]

    assert "shorter than" in refusal("vacuum", orders, "--retention", "1h")
    found = run_json("vacuum", orders, *options, "--dry-run")
    places = {file["place"] for file in found["files"]}
    assert "orphan.parquet" in places
    assert not found["deleted"]
    assert (orders / "orphan.parquet").exists()
    done = run_json("vacuum", orders, *options, "--yes")

    assert done["deleted"]
    assert not (orders / "orphan.parquet").exists()
    told = [commit["operation"] for commit in run_json("history", orders)]
    assert told[:2] == ["VACUUM END", "VACUUM START"]
    assert run("vacuum", orders, *options) == "No file can be deleted.\n"
    assert DeltaTable(str(orders)).snapshot().read().num_rows > 0


def test_a_folder_is_converted_and_registered(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    (folder / "day=2026-01-31").mkdir(parents=True)
    pq.write_table(pa.table({"id": [1, 2]}), folder / "day=2026-01-31/a.parquet")

    said = run("convert", "visits", folder, "--dry-run")
    assert "1 file, 2 rows" in said
    assert "partitioned by day" in said
    done = run_json("convert", "visits", folder, "--partition-schema", "day DATE")

    assert (done["name"], done["version"], done["num_added_files"]) == ("visits", 0, 1)
    assert DeltaTable(str(folder)).snapshot().read().num_rows == 2
    assert AuditEvent.objects.filter(action="table.convert").count() == 1
    assert "cannot be used for a new table" in refusal("convert", "others", folder)


def test_times_of_folders_take_the_zone_that_is_given(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    (folder / "at=2024-03-10 02%3A00%3A00").mkdir(parents=True)
    pq.write_table(
        pa.table({"id": [1]}), folder / "at=2024-03-10 02%3A00%3A00/a.parquet"
    )
    asked = ("convert", "visits", folder, "--partition-schema", "at TIMESTAMP")

    kept = run(*asked, "--dry-run")
    said = run(*asked, "--time-zone", "America/New_York", "--dry-run")
    run(*asked, "--time-zone", "America/New_York")

    assert "Folder times of at have no zone: kept as they are." in kept
    assert "Folder times of at have no zone: read as America/New_York." in said
    assert spelled(DeltaTable(str(folder))) == [{"at": "2024-03-10T07:00:00.000000Z"}]


def test_a_dry_run_says_what_would_be_committed(tmp_path: Path) -> None:
    table = tmp_path / "visits"
    run_json("create", "visits", table, "--schema", "id BIGINT")
    dry = "--dry-run"

    said = [
        run("set", table, "team=blue", dry),
        run("unset", table, "team", dry),
        run("add-column", table, "note STRING", dry),
        run("comment", table, "of a visit", "--column", "id", dry),
        run("upgrade", table, "--writer", "3", dry),
    ]
    told = run_json("upgrade", table, "--writer", "3", dry)

    assert "property team: nothing -> blue" in said[0]
    assert "Nothing to commit: it is so already" in said[1]
    assert "column note: nothing -> string" in said[2]
    assert "comment id: nothing -> of a visit" in said[3]
    assert "upgrade cannot be undone: writer 2 -> 3" in said[4]
    assert told["protocol"]["writer"] == [2, 3]
    assert DeltaTable(str(table)).latest_version() == 0


def test_a_dry_run_of_a_constraint_names_the_rows(tmp_path: Path) -> None:
    table = tmp_path / "visits"
    run_json("create", "visits", table, "--schema", "id BIGINT")
    run_json("upgrade", table, "--writer", "3", "--yes")
    DeltaTable(str(table)).append(pa.table({"id": [1, 2, 3]}))

    bad = run("constraint", table, "add", "low", "id < 3", "--dry-run")
    good = run_json("constraint", table, "add", "low", "id < 9", "--dry-run")

    assert "1 of 3 rows break it:" in bad
    assert "id=3" in bad
    assert good["checked"]["num_violating"] == 0
    assert "no constraint" in refusal("constraint", table, "drop", "low", "--dry-run")
    assert DeltaTable(str(table)).latest_version() == 2
