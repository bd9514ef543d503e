"""A broken table is indexed as far as it reads, and says what is wrong."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deltaweb.index.folder.result import FAILED, INDEXED
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.index.index_builds import (
    add_commit,
    add_file,
    commits,
    index,
    schema_of,
    set_metadata,
)
from tests.support.index.index_folders import open_index

pytestmark = pytest.mark.slow


class TestBrokenTable:
    @cases(
        "break_table, code",
        {
            "no log": (shutil.rmtree, "not-a-delta-table"),
            "a last commit alone": (
                lambda log: [
                    path.unlink()
                    for path in log.iterdir()
                    if "21.json" not in path.name
                ],
                "log-gap",
            ),
        },
    )
    def test_gives_a_result_that_says_so(self, lake, tmp_path, break_table, code):
        table = Path(shutil.copytree(lake / "orders", tmp_path / "table"))
        break_table(table / "_delta_log")

        result = index(table, tmp_path)

        assert (result.state, result.error_code) == (FAILED, code)
        assert result.error
        assert result.error_hint
        assert not (tmp_path / "index").exists()
        assert list(tmp_path.glob(".index.*")) == []

    @cases(
        "break_table, code, version",
        {
            "a torn last commit": (
                lambda log: (log / f"{21:020d}.json").write_text("{torn"),
                "log-corrupt",
                20,
            ),
            "a torn commit in the middle": (
                lambda log: (log / f"{15:020d}.json").write_text("{torn"),
                "log-corrupt",
                14,
            ),
            "a missing commit": (
                lambda log: (log / f"{20:020d}.json").unlink(),
                "log-gap",
                19,
            ),
        },
    )
    def test_is_indexed_up_to_the_fault(
        self,
        lake: Path,
        tmp_path: Path,
        break_table: Callable[[Path], object],
        code: str,
        version: int,
    ) -> None:
        table = Path(shutil.copytree(lake / "orders", tmp_path / "table"))
        break_table(table / "_delta_log")

        result = index(table, tmp_path)

        assert (result.state, result.version) == (INDEXED, version)
        assert (result.is_broken, result.error_code) == (True, code)
        word = "is missing" if code == "log-gap" else "does not read"
        assert result.fault == f"commit {version + 1} {word}"
        files = DeltaTable(str(table)).snapshot(version).num_files
        assert open_index(result.folder).files.num_rows == files
        assert result.num_files == files

    @cases(
        "action, facts",
        {
            "sizes beyond a long": (
                add_file("big", size=2**62),
                {"num_files": 88, "size_bytes": None},
            ),
            "a negative count of rows": (
                add_file("odd", stats='{"numRecords": -7}'),
                {"num_files": 85, "num_records": None},
            ),
            "torn statistics": (
                add_file("odd", stats='{"numRecords": 5', partition_values={"x": "1"}),
                {"num_files": 85, "num_records": None},
            ),
            "a partition value that is no date": (
                add_file("odd", partition_values={"order_date": "yesterday"}),
                {"num_files": 85},
            ),
            "a schema that does not parse": (
                set_metadata("{torn"),
                {"num_files": 84, "num_columns": None, "num_records": None},
            ),
            "an unknown type": (
                set_metadata(schema_of("g", "geometry")),
                {"num_files": 84, "num_records": 5568},
            ),
            "a name that is no Unicode": (
                set_metadata(schema_of("\ud800", "long"), created_time=2**70),
                {"num_files": 84},
            ),
            "a protocol beyond its column": (
                {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2**40}},
                {"num_files": 84, "num_records": 5568},
            ),
        },
    )
    def test_is_shown_as_far_as_it_goes(self, lake, tmp_path, action, facts):
        table = Path(shutil.copytree(lake / "orders", tmp_path / "table"))
        actions = [action]
        if "add" in action and "big" in action["add"]["path"]:
            actions = [add_file(f"big{n}", size=2**62) for n in range(4)]
        add_commit(table, 22, *actions)

        result = index(table, tmp_path)

        assert result.state == INDEXED
        assert facts.items() <= result.to_json().items()
        assert open_index(result.folder).files.num_rows == facts["num_files"]
        json.dumps(result.to_json()).encode("ascii")

    def test_takes_hostile_values_as_texts(self, lake: Path, tmp_path: Path) -> None:
        table = Path(shutil.copytree(lake / "orders", tmp_path / "table"))
        info = {
            "operation": "WRITE\0" * 100,
            "userName": {"deep": "\ud800"},
            "operationParameters": {"predicate": "x" * 10**6, "n": 10**400},
            "operationMetrics": [1, 2],
        }
        add_commit(table, 22, {"commitInfo": info})

        result = index(table, tmp_path)

        newest = commits(result)[-1]
        assert newest["version"] == 22
        assert len(newest["operation"]) <= 100
        assert len(newest["parameters"]) < 64_000
        assert json.loads(newest["metrics"]) == {}
