"""`deltaweb table explain` says which files a condition reads, and why."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from deltaweb.index import left_row_groups
from deltaweb.table import DeltaTable
from tests.functional.table_command.commands import refusal, run, run_json
from tests.support.tables.grouped_table import grouped_table
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db

# Two files: of 1 to 3, and of 4 and 5.
TABLE = TableBuilder().rows(n=[1, 2, 3]).rows(n=[4, 5])


def test_the_document_has_the_keys_that_scripts_rely_on(table: Path) -> None:
    said = run_json("explain", table, "--where", "n > 3")

    assert [*said] == ["version", "files", "bytes", "rows", "reasons", "skipped"]
    assert said["version"] == 2
    assert said["files"] == {"total": 2, "after_partitions": 2, "after_statistics": 1}
    assert said["rows"] == {"total": 5, "after_partitions": 5, "after_statistics": 2}
    assert said["bytes"]["total"] > said["bytes"]["after_statistics"] > 0
    read, skipped = said["reasons"]
    assert [*read] == ["why", "effect", "files", "bytes", "suggestion"]
    assert (read["effect"], read["files"], read["suggestion"]) == ("read", 1, None)
    assert (skipped["effect"], skipped["files"]) == ("skipped", 1)
    assert skipped["why"] == "the statistics exclude n > 3"
    (file,) = said["skipped"]
    assert file["why"] == "n from 1 to 3, so n > 3 is not true"
    assert file["path"] in DeltaTable(str(table)).snapshot().files["path"].to_pylist()


def ended_with_1(*arguments: object) -> tuple[str, str]:
    """Return what a command that ends with 1 has written, and the sentence of it."""
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("table", *map(str, arguments), stdout=out)
    assert caught.value.returncode == 1
    return out.getvalue(), str(caught.value)


def test_more_files_than_allowed_end_the_command_with_1_after_its_answer(table: Path):
    asked = ("explain", table, "--where", "n > 0")

    text, sentence = ended_with_1(*asked, "--fail-over", "1")

    assert sentence == "2 files would be read, and --fail-over is 1."
    assert text == run(*asked, "--fail-over", "2")


def test_json_stays_one_document_where_too_many_files_are_read(table: Path):
    asked = ("explain", table, "--where", "n > 0", "--fail-over", "0", "--json")

    text, _ = ended_with_1(*asked)

    assert json.loads(text)["files"]["after_statistics"] == 2


def test_people_read_the_funnel_the_parts_and_the_suggestion(table: Path) -> None:
    text = run("explain", table, "--where", "CAST(n AS STRING) = '4' AND n > 3")

    assert text.startswith("A reader opens 1 of 2 files, ")
    assert "skips no file: the cast prevents skipping by `n`\n  write n = 4\n" in text
    assert "skips 1 file by statistics" in text
    assert "SKIPPED" not in text


def test_every_skipped_file_is_listed_on_request(table: Path) -> None:
    text = run("explain", table, "--where", "n > 3", "--all")

    assert text.rstrip().endswith("n from 1 to 3, so n > 3 is not true")


def test_an_older_version_is_explained(table: Path) -> None:
    said = run_json("explain", table, "--where", "n > 3", "--version", "1")

    assert (said["version"], said["files"]["total"]) == (1, 1)


def test_row_groups_are_counted_on_request(tmp_path: Path) -> None:
    grouped_table(tmp_path / "grouped")
    asked = ("explain", tmp_path / "grouped", "--where", "id >= 75", "--row-groups")

    said, text = run_json(*asked), run(*asked)

    assert said["files"]["after_row_groups"] == said["files"]["after_statistics"] == 2
    assert said["rows"]["after_row_groups"] == 80
    assert said["bytes"]["after_row_groups"] < said["bytes"]["after_statistics"]
    assert said["row_groups"] == {"total": 10, "after_row_groups": 8}
    assert "8 of 10 row groups stay" in text


def test_row_groups_of_too_many_files_are_refused(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_row_groups, "MAX_FOOTERS", 1)

    said = refusal("explain", table, "--where", "n > 0", "--row-groups")

    assert "leaves 2 files, and row groups are counted in at most 1" in said


def test_a_condition_that_cannot_be_right_is_refused(table: Path) -> None:
    assert "no column 'm'" in refusal("explain", table, "--where", "m > 3")
