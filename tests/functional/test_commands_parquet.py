"""`deltaweb parquet`: footers, rows and schemas of files that belong to no table."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.functional.command_line import Ran, refusal, run_json
from tests.support.golden.recorded import parquet_files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.parquet"
    table = pa.table(
        {
            "id": pa.array([1, 2, None], pa.int32()),
            "name": ["a", 'b"', "\x1b[2J"],
            "tags": pa.array([["x"], [], None], pa.list_(pa.string())),
        }
    )
    pq.write_table(table, path, row_group_size=2)
    return path


class TestShow:
    def test_tells_header_schema_row_groups_columns_and_statistics(self, file: Path):
        lines = [
            line.split() for line in Ran("parquet", "show", file).stdout.split("\n")
        ]

        assert ["rows", "3"] in lines
        assert ["row", "groups", "2"] in lines
        assert ["id", "optional", "INT32", "integer"] in lines
        assert ["0", "2"] in [line[:2] for line in lines]
        assert ["id", "0", "0", "1", "2", "usable"] in lines
        assert ["id", "1", "1"] in [line[:3] for line in lines]
        assert any("array<string>" in line for line in lines)

    def test_shows_no_character_that_a_terminal_obeys(self, file: Path) -> None:
        assert "\x1b" not in Ran("parquet", "show", file).stdout
        assert "\x1b" not in Ran("parquet", "rows", file).stdout

    def test_answers_scripts_with_the_whole_description(self, file: Path) -> None:
        shown = run_json("parquet", "show", file)

        assert shown["num_row_groups"] == 2
        assert [column["name"] for column in shown["schema"]["children"]] == [
            *("id", "name", "tags")
        ]

    def test_warns_on_stderr_of_what_is_odd(self, tmp_path: Path) -> None:
        path = tmp_path / "odd.parquet"
        of_64_bits, of_days = b"\x01n\x25\x24", b"\x01n\x25\x0c"
        data = parquet_files()["duckdb_v2.parquet"].read_bytes()
        assert data.count(of_64_bits) == 1
        path.write_bytes(data.replace(of_64_bits, of_days))

        ran = Ran("parquet", "show", path)

        assert "Warning:" in ran.stderr
        assert "annotation is invalid" in ran.stderr

    def test_of_many_columns_is_cut(self, tmp_path: Path) -> None:
        path = tmp_path / "wide.parquet"
        pq.write_table(pa.table({f"c{n}": [n] for n in range(500)}), path)

        shown = Ran("parquet", "show", path).stdout

        assert len(shown.splitlines()) < 1_000
        assert "and more; --json has them all" in shown


class TestRows:
    def test_are_a_table_for_people(self, file: Path) -> None:
        lines = Ran("parquet", "rows", file).stdout.splitlines()

        assert [line.split() for line in lines[:3]] == [
            ["id", "name", "tags"],
            ["1", "a", '["x"]'],
            ["2", 'b"', "[]"],
        ]
        assert lines[3].split() == ["NULL", "\\x1b[2J", "NULL"]

    def test_are_those_of_one_row_group(self, file: Path) -> None:
        (row,) = run_json("parquet", "rows", file, "--row-group", 1)

        assert row["id"] is None

    def test_of_a_row_group_that_is_not_there_are_refused(self, file: Path) -> None:
        sentence = refusal("parquet", "rows", file, "--row-group", 7)

        assert "2 row groups, but not row group 7" in sentence


class TestSchema:
    def test_is_deltas_of_a_file_with_all_nullable(self, file: Path) -> None:
        schema = run_json("parquet", "schema", file)

        assert [field["type"] for field in schema["fields"][:2]] == [
            "integer",
            "string",
        ]
        assert all(field["nullable"] for field in schema["fields"])

    @pytest.mark.parametrize("system", ["delta", "spark", "arrow"])
    def test_keeps_what_is_never_null_when_strict(self, tmp_path: Path, system: str):
        path = tmp_path / "r.parquet"
        field = pa.field("n", pa.int64(), nullable=False)
        pq.write_table(pa.table({"n": [1]}, pa.schema([field])), path)

        strict = run_json("parquet", "schema", path, "--as", system, "--strict")
        other = run_json("parquet", "schema", path, "--as", system)

        assert not strict["fields"][0]["nullable"]
        assert other["fields"][0]["nullable"]

    @pytest.mark.usefixtures("file")
    def test_is_merged_of_all_files_of_a_folder(self, tmp_path: Path) -> None:
        below = tmp_path / "day=1"
        below.mkdir()
        pq.write_table(pa.table({"more": [1.5]}), below / "b.parquet")
        hidden = tmp_path / "_delta_log"
        hidden.mkdir()
        (hidden / "c.parquet").write_bytes(b"no Parquet file")

        schema = run_json("parquet", "schema", tmp_path)

        names = [field["name"] for field in schema["fields"]]
        assert names == ["id", "name", "tags", "more"]

    def test_names_every_conflict_and_every_bad_file(self, file: Path, tmp_path: Path):
        pq.write_table(pa.table({"id": ["1"], "NAME": [1]}), tmp_path / "b.parquet")
        (tmp_path / "c.parquet").write_bytes(b"no Parquet file")

        sentence = refusal("parquet", "schema", tmp_path)

        assert f"b.parquet: id: its type is string, but integer in {file}" in sentence
        assert "b.parquet: name: its type is long, but string" in sentence
        assert "c.parquet: This is not a Parquet file" in sentence

    def test_of_a_folder_without_files_is_refused(self, tmp_path: Path) -> None:
        assert "No Parquet file is below" in refusal("parquet", "schema", tmp_path)


@pytest.mark.parametrize("verb", ["show", "rows", "schema"])
class TestWhatIsNoFile:
    def test_is_named_where_it_is_missing(self, verb: str, tmp_path: Path) -> None:
        place = tmp_path / "gone.parquet"

        assert f"{place} does not exist" in refusal("parquet", verb, place)

    def test_is_named_where_it_is_another_format(self, verb: str, tmp_path: Path):
        place = tmp_path / "a.parquet"
        place.write_bytes(b"a,b\n1,2\n" * 9)

        assert f"{place}: This is not a Parquet file" in refusal("parquet", verb, place)

    def test_never_hangs_where_it_is_a_pipe(self, verb: str, tmp_path: Path) -> None:
        place = tmp_path / "pipe.parquet"
        os.mkfifo(place)

        assert "it is not a regular file" in refusal("parquet", verb, place)

    def test_is_refused_where_its_url_is_of_no_store(self, verb: str) -> None:
        assert "is not a location" in refusal("parquet", verb, "http://a.b/c.parquet")
