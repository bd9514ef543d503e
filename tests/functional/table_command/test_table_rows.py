"""Rows of a table are written by commands."""

import json
import shlex
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import override_settings

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from deltaweb.table import DeltaTable
from tests.functional.command_line import Ran
from tests.functional.table_command.commands import refusal, run, run_json
from tests.support import cases
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db


# Five rows in two commits.
TABLE = TableBuilder().rows(n=[1, 2, 3]).rows(n=[4, 5])


def numbers(table: Path) -> list[int]:
    return sorted(DeltaTable(str(table)).snapshot().read()["n"].to_pylist())


def test_rows_are_deleted_and_updated(table: Path) -> None:
    gone = run_json("delete", table, "--where", "n > 3", "--yes")
    changed = run_json("update", table, "--set", "n = n * 10", "--yes")

    assert (gone["version"], gone["metrics"]["numDeletedRows"]) == (3, 2)
    assert (changed["version"], changed["num_rows_updated"]) == (4, 3)
    assert numbers(table) == [10, 20, 30]
    assert "rand" in refusal("delete", table, "--where", "rand() > 0", "--yes")
    assert "column=expression" in refusal("update", table, "--set", "n", "--yes")


def test_a_dry_run_says_what_would_happen(table: Path) -> None:
    text = run("delete", table, "--where", "n > 1 and n < 4", "--dry-run")
    told = run_json("update", table, "--set", "n=n + 1", "--where", "n=2", "--dry-run")

    assert text.startswith("Would delete 2 rows in 1 file of 2 (")
    assert "1 other row would be written again" in text
    assert (told["version"], told["num_rows"], told["total_files"]) == (2, 1, 2)
    assert (told["before"], told["after"]) == ([{"n": "2"}], [{"n": "3"}])
    assert "nothing would be" in run("delete", table, "--where", "n=9", "--dry-run")
    assert DeltaTable(str(table)).latest_version() == 2
    assert numbers(table) == [1, 2, 3, 4, 5]


@override_settings(SPARK_MASTER="nowhere")
@pytest.mark.parametrize("dry", [("--yes",), ("--dry-run",)], ids=["done", "looked at"])
def test_a_condition_that_cannot_be_right_never_starts_spark(table, tmp_path, dry):
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"n": 1}\n')
    wrong = ("--where", "hash(m) = 3", *dry)

    assert "no column 'm'" in refusal("delete", table, *wrong)
    assert "no column 'm'" in refusal("update", table, "--set", "n = 1", *wrong)
    assert "no column 'm'" in refusal("update", table, "--set", "m = hash(n)", *dry)
    assert "not SQL" in refusal("delete", table, "--where", "n = = 3", *dry)
    on = ("--on", "hash(t.n) = hash(s.m)", "--insert-all", "--yes")
    assert "no column 's.m'" in refusal("merge", table, lines, *on)


def test_rows_of_a_file_or_of_another_table_are_merged(table: Path, tmp_path: Path):
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"n": 1}\n{"n": 7}\n')
    on = ("--on", "t.n = s.n")

    came = run_json("merge", table, lines, *on, "--insert-all")
    went = run_json("merge", table, table, *on, "--delete-where", "t.n > 3", "--yes")

    assert (came["version"], came["num_rows_inserted"]) == (3, 1)
    assert (went["version"], went["num_rows_deleted"]) == (4, 3)
    assert numbers(table) == [1, 2, 3]
    assert "--update-all" in refusal("merge", table, lines, *on)


@cases(
    "text, names, options",
    {
        "fields and decimals of others": ("n;x\n1;3,5\n2;0,5\n", "n x", "--decimal ,"),
        "no header, and a type": (
            "1,3.5\n2,0.5\n",
            "column_1 column_2",
            "--no-header --types 'column_2 DOUBLE'",
        ),
        "a text of null": ("n,x\n1,3.5\n2,none\n", "n x", "--null none"),
    },
)
def test_a_file_is_merged_however_it_is_written(table, tmp_path, text, names, options):
    lines = tmp_path / "lines"  # a name without a format
    lines.write_text(text)
    key, value = names.split()
    merge = ("merge", table, lines, "--on", f"t.n = s.{key}", "--format", "csv")

    run(*merge, "--delete-where", f"s.{value} > 1", *shlex.split(options), "--yes")

    assert numbers(table) == [2, 3, 4, 5]


def test_values_with_two_readings_are_refused_until_one_is_chosen(table, tmp_path):
    lines, place = tmp_path / "a.csv", tmp_path / "new"
    lines.write_text("n;day;x\n1;01.02.2026;1,234\n")
    choices = "1.234 (--decimal ,) or 1234 (--decimal .)"

    for more in ((), ("--dry-run",), ("--dates", "dmy")):
        assert choices in refusal("import", place, lines, *more)
    assert "--dates dmy" in refusal("import", place, lines, "--decimal", ",")
    merge = ("merge", table, lines, "--on", "t.n = s.n", "--delete-where", "s.x > 2")
    assert choices in refusal(*merge, "--yes")
    assert not place.exists()

    run("import", place, lines, "--decimal", ",", "--dates", "mdy")
    (row,) = DeltaTable(str(place)).snapshot().read().to_pylist()
    assert (str(row["day"]), row["x"]) == ("2026-01-02", 1.234)


def test_a_table_is_not_merged_by_what_is_said_of_a_file(table: Path) -> None:
    merge = ("merge", table, table, "--on", "t.n = s.n", "--insert-all", "--yes")

    assert "taken for a table" in refusal(*merge, "--types", "n INT")
    assert "taken for a table" in refusal(*merge, "--delimiter", ";")
    assert "No table is named" in refusal("merge", table, "a" * 300, *merge[3:])


def test_what_a_merge_would_do_is_told(table: Path, tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"n": 1}\n{"n": 7}\n')
    merge = ("merge", table, lines, "--on", "t.n = s.n", "--insert-all")
    before = files_of(table)

    told = run_json(*merge, "--update-all", "--dry-run")
    text = run(*merge, "--delete-where", "t.n = 1", "--dry-run")
    nothing = run(
        "merge", table, table, "--on", "t.n = s.n", "--insert-all", "--dry-run"
    )

    assert files_of(table) == before
    wanted = {"version": 2, "num_source_rows": 2, "num_updated_rows": 1}
    wanted |= {"num_inserted_rows": 1, "num_deleted_rows": 0, "num_files": 1}
    assert wanted.items() <= told.items()
    done = run_json(*merge, "--update-all", "--yes")
    names = [name for name in told if name in done and name.endswith("_rows")]
    assert {n: done[n] for n in names} == {n: told[n] for n in names}
    assert text.startswith("Would delete 1 row, add 1 row in 1 file of 2 (")
    assert nothing == "No row is affected: nothing would be written.\n"


def files_of(table: Path) -> list[Path]:
    return sorted(path for path in table.rglob("*") if path.is_file())


def test_small_files_are_packed(table: Path) -> None:
    plan = run_json("optimize", table, "--dry-run")
    text = run("optimize", table)

    assert (plan["version"], plan["num_files"], plan["num_after"]) == (2, 2, 1)
    assert text == (
        "Committed version 3: 5 rows written again, 1 file added, 2 files removed.\n"
    )
    assert run("optimize", table) == "Nothing to do: the table is as it was.\n"
    assert "no column 'm'" in refusal("optimize", table, "--cluster-by", "m")


def test_a_table_is_made_and_registered(tmp_path: Path) -> None:
    place = tmp_path / "new"
    many = ", ".join(f"number_{n} BIGINT" for n in range(30))  # no path is that long
    ddl = f"id BIGINT NOT NULL, day DATE, {many}"

    made = run_json("create", "new", place, "--schema", ddl, "--partition-by", "day")

    assert made["version"] == 0
    table = DeltaTable(str(place)).definition()
    assert table.metadata.partition_columns == ["day"]
    assert "cannot be used for a new table" in refusal(
        "create", "other", place, "--schema", ddl
    )


def test_files_are_imported(tmp_path: Path) -> None:
    csv, lines, parquet = (tmp_path / f"a.{end}" for end in ("csv", "jsonl", "parquet"))
    csv.write_text("n,s\n1,a\n2,b\n")
    lines.write_text(json.dumps({"n": 3, "s": "c"}) + "\n")
    pq.write_table(pa.table({"n": [4], "x": [1.5]}), parquet)
    place = tmp_path / "imported"

    first = run_json("import", place, csv, lines)
    assert (first["version"], first["num_rows_inserted"]) == (0, 3)
    assert "not a column of the table" in refusal("import", place, parquet)
    run_json("import", place, parquet, "--merge-schema")
    assert numbers(place) == [1, 2, 3, 4]
    assert "cannot be used for a new table" in refusal(
        "import", place, csv, "--mode", "error"
    )
    run_json("import", place, csv, "--mode", "overwrite", "--merge-schema", "--yes")

    assert numbers(place) == [1, 2]


def test_an_import_into_a_registered_table_is_recorded_and_indexed(
    table: Path, tmp_path: Path
) -> None:
    csv = tmp_path / "a.csv"
    csv.write_text("n\n8\n")
    run("add", "numbers", table)
    Job.objects.all().delete()

    told = run_json("import", "numbers", csv)

    assert (told["num_rows"], told["num_bad"]) == (1, 0)
    event = AuditEvent.objects.get(action="table.import")
    assert event.detail["files"] == [str(csv)]
    assert event.detail["version"] == told["version"]
    assert Job.objects.filter(subject_id=event.table_id).exists()


def test_no_table_is_made_in_the_place_of_a_registered_one(table: Path, tmp_path: Path):
    csv, place = tmp_path / "a.csv", shutil.copytree(table, tmp_path / "registered")
    csv.write_text("n\n8\n")
    run("add", "numbers", place)
    shutil.rmtree(place)

    assert "does not exist" in refusal("import", "numbers", csv)
    assert not place.exists()


def test_nobody_is_asked_who_overwrites_no_table(tmp_path: Path) -> None:
    csv = tmp_path / "a.csv"
    csv.write_text("n,s\n8,h\n")
    line = ("import", tmp_path / "t", csv, "--mode", "overwrite")

    made = run_json(*line, "--partition-by", "s, ")

    assert made["version"] == 0
    assert "there is no terminal to ask" in refusal(*line, code=2)


def test_a_file_that_does_not_read_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "a.parquet"
    broken.write_text("no parquet")

    assert "a.parquet cannot be imported" in refusal("import", tmp_path / "t", broken)
    assert "no such file" in refusal("import", tmp_path / "t", tmp_path / "b.csv")
    assert "say its format: csv, json or parquet" in refusal(
        "import", tmp_path / "t", __file__
    )
    assert not (tmp_path / "t").exists()


def test_what_is_done_to_a_registered_table_is_recorded(table: Path, tmp_path: Path):
    run("add", "numbers", shutil.copytree(table, tmp_path / "registered"))
    run("delete", "numbers", "--where", "n = 1", "--yes")

    event = AuditEvent.objects.get(action="table.delete_rows")
    assert event.detail["where"] == "n = 1"


def test_bad_rows_are_named_before_anything_is_written(tmp_path: Path) -> None:
    csv = tmp_path / "returns.csv"
    csv.write_text("id;refund;on\n1;49,90;20.11.2026\n2;n/a;31.11.2026\n")
    place = tmp_path / "returns"
    form = (
        "--decimal",
        ",",
        "--dates",
        "dmy",
        "--types",
        "refund DECIMAL(9,2), on DATE",
    )

    said = run("import", place, csv, *form, "--dry-run")
    assert "made of 1 row; 1 does not fit" in said
    assert "line 3, column 'refund': 'n/a' (not a number)" in said
    assert "Nothing was written" in said
    assert "line 3" in refusal("import", place, csv, *form)
    misspelt = refusal("import", place, csv, "--types", "refnd DOUBLE")
    assert "no column 'refnd'. Did you mean 'refund'?" in misspelt
    assert "id BIGINT" in refusal("import", place, csv, "--types", "refund=double")
    assert not place.exists()
    run_json("import", place, csv, *form, "--bad-rows", "leave-out")

    assert DeltaTable(str(place)).snapshot().read().num_rows == 1


class TestImportOfFilesWhoseValuesDoNotAgree:
    @pytest.fixture
    def csv(self, tmp_path: Path) -> Path:
        file = tmp_path / "a.csv"
        file.write_text("id,my v\n1,1.5\n2,2\n3,n/a\n4,4\n5,5\n")
        return file

    def test_the_row_is_left_out_and_named_by_file_and_line(self, csv, tmp_path):
        place = tmp_path / "t"
        typed = ("--types", "`my v` DOUBLE", "--bad-rows", "leave-out")

        warned = Ran("table", "import", place, csv, *typed).stderr

        assert f"1 row was left out: {csv}, line 4, column 'my v': 'n/a'" in warned
        assert "are numbers" not in warned
        found = DeltaTable(str(place)).snapshot().read()
        assert sorted(found["my v"].to_pylist()) == [1.5, 2.0, 4.0, 5.0]

    def test_who_imports_it_as_text_is_told(self, csv: Path, tmp_path: Path) -> None:
        warned = Ran("table", "import", tmp_path / "t", csv).stderr
        typed = ("--types", "`my v` STRING")
        unwarned = Ran("table", "import", tmp_path / "u", csv, *typed).stderr
        made = Ran("table", "create", "t", tmp_path / "v", "--schema-of", csv).stderr

        assert "4 of 5 values are numbers" in warned
        assert "4 of 5 values are numbers" in made
        assert unwarned == ""

    def test_rows_that_break_a_constraint_and_times_that_are_none_are_counted(
        self, tmp_path: Path
    ) -> None:
        place, csv = tmp_path / "t", tmp_path / "a.csv"
        builder = TableBuilder(place).columns(n="long", at="timestamp")
        made = builder.features("checkConstraints").build()
        made.add_constraint("positive", "n > 0")
        csv.write_text("n,at\n1,2024-03-10 02:30\n-2,2024-03-10 12:00\n")
        words = ("import", place, csv, "--time-zone", "America/New_York")
        moved = "1 time does not exist in America/New_York, moved forward by 1 hour."

        said = run(*words, "--dry-run")
        warned = Ran("table", *words, "--bad-rows", "leave-out").stderr

        assert "1 row would break the constraint 'positive': n > 0." in said
        assert f"1 row was left out: {csv}, line 3: 'n=-2'" in warned
        assert moved in said
        assert moved in warned
        assert numbers(place) == [1]
