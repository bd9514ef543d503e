"""Rewritten files: their names, which of them are found, and which are erased."""

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from pytest_django.fixtures import Settings

from apps.sharing.access.grants import prepared
from apps.sharing.access.grants.prepared import location_of
from apps.sharing.models import PreparedFile, SharedTable
from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.classification import ClassifiedPart, FileRule, classify
from deltaweb.index.query.restricted_version import PREPARED_SCHEMA
from deltaweb.index.query.shared_table import SharedTableReader
from tests.support import cases
from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog, stats_of
from tests.support.pages.factories import NOW, new_share, new_shared_table
from tests.support.pages.prepared_files import (
    new_prepared_changes,
    new_prepared_file,
    put_file,
    stored_files,
)
from tests.support.stores.memory import MemoryTableStore

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
VECTOR = {"storageType": "u", "pathOrInlineDv": "ab", "offset": 1, "sizeInBytes": 9}


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, settings: Settings) -> None:
    settings.PREPARED_FILES = f"{tmp_path}/prepared/"


@pytest.fixture
def shared(db: None) -> SharedTable:  # noqa: ARG001 (a database)
    return new_shared_table()


def known() -> set[str]:
    """The keys of the files that the database knows."""
    return set(PreparedFile.objects.values_list("key", flat=True))


class TestNames:
    @pytest.fixture
    def parts(self, tmp_path: Path) -> list[ClassifiedPart]:
        """Files `a`, `b` and `c` of which a rule signs one, rewrites one, drops one."""
        log = LocalLog(tmp_path).start(
            add("a", stats=stats_of(1, {"id": 1}, {"id": 1})),
            add("b", stats=stats_of(2, {"id": 1}, {"id": 9})),
            add("c", stats=stats_of(2, {"id": 9}, {"id": 9})),
        )
        return _classified(log, "id < 5")

    def test_are_of_the_files_to_be_rewritten_alone(self, parts) -> None:
        ((key,),) = keys(parts)
        ((all_of_them),) = keys(_all_rewritten(parts))

        assert len(key) == 64
        assert len(set(all_of_them)) == 3
        assert all_of_them[1] == key

    def test_are_equal_for_equal_work(self, parts: list[ClassifiedPart]) -> None:
        assert keys(parts) == keys(parts)

    @cases(
        "facts",
        {
            "of another table": {"shared": 1},
            "of another rule": {"rule": "other"},
            "of another shape": {"shape": "other"},
            "of other cuts between": {"rule": "rul", "shape": "eshape"},
        },
    )
    def test_differ_by_what_is_made(self, parts, facts: dict[str, Any]) -> None:
        assert keys(parts, **facts) != keys(parts)

    def test_differ_by_path_and_vector(self, tmp_path: Path) -> None:
        names = []
        for number, files in enumerate(
            [
                [add("a")],
                [add("a", deletionVector=VECTOR)],
                [add("a", deletionVector=VECTOR | {"offset": 2})],
                [add("auab@1")],
            ]
        ):
            folder = tmp_path / str(number)
            folder.mkdir()
            found = _all_rewritten(_classified(LocalLog(folder).start(*files), None))
            names += keys(found)[0]

        assert len(set(names)) == 4

    def test_tell_nothing_without_the_key_of_the_server(self, parts, settings) -> None:
        before = keys(parts)
        settings.SECRET_KEY = "another key, which is as long as keys have to be"

        assert keys(parts) != before

    def test_of_changes_differ_by_each_fact(self) -> None:
        facts = [("ab", "c"), ("a", "bc"), ("abc",), ("ab", "c", 1), ("ab", "c", 2)]

        assert len({prepared.hashed_name(*one) for one in facts}) == len(facts)
        assert prepared.hashed_name("a", 1) == prepared.hashed_name("a", "1")

    def test_are_those_of_a_folder_for_each_table(self, tmp_path: Path) -> None:
        shared = SharedTable()

        assert location_of(shared.id) == f"{tmp_path}/prepared/{shared.id}"
        assert prepared.place_of(shared.id).location == location_of(shared.id)
        assert prepared.path_of("k") == "k.parquet"


def _classified(log: LocalLog, sql: str | None) -> list[ClassifiedPart]:
    version = SharedTableReader().open_version(log.table, index_folder=None)
    condition = SQLCondition(sql, version.schema) if sql else None
    return classify(version, FileRule(condition=condition))


def _all_rewritten(parts: list[ClassifiedPart]) -> list[ClassifiedPart]:
    return [replace(one, rewritten=np.ones_like(one.rewritten)) for one in parts]


def keys(
    parts: list[ClassifiedPart],
    *,
    shared: int = 0,
    rule: str = "rule",
    shape: str = "shape",
) -> list[list[str]]:
    table = SharedTable(id=UUID(int=shared))
    return prepared.keys_of(table, rule, shape, parts)


class TestFinding:
    def test_is_by_table_and_rule_and_not_of_changes(self, shared: SharedTable) -> None:
        other = new_shared_table(new_share("other"), "crm.other")
        found = new_prepared_file(shared, "found")
        new_prepared_file(shared, "rule", rule="other")
        new_prepared_file(other, "table")
        changes = new_prepared_changes(shared, 1)
        new_prepared_file(shared, "changes", changes=changes, kind="add")

        assert prepared.find_files(shared, "rule") == {"found": found}

    def test_gives_the_columns_of_files_that_hold_rows(self) -> None:
        files = [
            PreparedFile(
                key=key,
                num_rows=num_rows,
                size_bytes=7,
                prepared_at=NOW,
                partition_values={"p": "1", "q": None},
                statistics=text,
            )
            for key, num_rows, text in (("a", 2, "{}"), ("b", 0, "{}"), ("c", 1, ""))
        ]

        table = prepared.as_table(files)

        assert table.schema == PREPARED_SCHEMA
        row = {
            "size": 7,
            "modification_time": int(NOW.timestamp() * 1000),
            "partition_values": [("p", "1"), ("q", None)],
        }
        assert table.to_pylist() == [
            {**row, "path": "a.parquet", "stats": "{}"},
            {**row, "path": "c.parquet", "stats": None},
        ]

    def test_is_noted_once_in_six_hours(self, shared, monkeypatch) -> None:
        monkeypatch.setattr(prepared, "KEYS_A_STATEMENT", 2)
        ages = {"a": 5, "b": 6, "c": 7, "d": 8, "e": 9}
        files = [
            new_prepared_file(shared, key, last_used_at=NOW - hours * HOUR)
            for key, hours in ages.items()
        ]
        untouched = new_prepared_file(shared, "x", last_used_at=NOW - DAY)

        prepared.note_use(files, now=NOW)

        untouched.refresh_from_db()
        assert untouched.last_used_at == NOW - DAY
        used = dict(PreparedFile.objects.values_list("key", "last_used_at"))
        assert {key for key in ages if used[key] == NOW} == {"c", "d", "e"}


class TestErasing:
    def test_deletes_files_and_rows(self, shared, monkeypatch) -> None:
        monkeypatch.setattr(prepared, "KEYS_A_STATEMENT", 2)
        gone = [new_prepared_file(shared, key) for key in "abcde"]
        gone.append(new_prepared_file(shared, "empty", num_rows=0))
        new_prepared_file(shared, "kept")

        prepared.erase(shared.id, gone)

        assert known() == stored_files(shared) == {"kept"}

    def test_of_files_that_are_gone_is_no_fault(self, shared: SharedTable) -> None:
        files = [new_prepared_file(shared, key) for key in "ab"]
        shutil.rmtree(location_of(shared.id))

        prepared.erase(shared.id, files)

        assert known() == set()

    def test_of_one_file_of_changes_withdraws_them_all(self, shared) -> None:
        first, second = (new_prepared_changes(shared, version) for version in (1, 2))
        gone = new_prepared_file(shared, "a", changes=first)
        new_prepared_file(shared, "b", changes=first)
        new_prepared_file(shared, "c", changes=second)

        prepared.erase(shared.id, [gone])

        first.refresh_from_db()
        second.refresh_from_db()
        assert (first.is_ready, second.is_ready) == (False, True)

    def test_of_a_table_takes_all_of_its_files(self, shared: SharedTable) -> None:
        other = new_shared_table(new_share("other"), "crm.other")
        for key in "ab":
            new_prepared_file(shared, key)
        new_prepared_file(other, "other")

        prepared.erase_all(shared)

        assert known() == stored_files(other) == {"other"}
        assert stored_files(shared) == set()

    def test_that_its_store_refuses_leaves_the_rows(self, shared, settings, caplog):
        new_prepared_file(shared, "a")
        settings.PREPARED_FILES = "nowhere://bucket"
        caplog.set_level("WARNING", logger=prepared.logger.name)

        prepared.erase_all(shared)

        assert known() == {"a"}
        assert "stay" in caplog.text


class AStore(MemoryTableStore):
    """A store that does not answer for one file."""

    def has_data_file(self, path: str) -> bool:
        if path == "source-unknown":
            raise LocationUnreachableError(location="memory://t", reason="Timeout")
        return super().has_data_file(path)


class TestErasingWithoutSource:
    def test_takes_what_is_made_of_erased_files(self, shared: SharedTable) -> None:
        store = AStore()
        store.put_data_file("source-there", b"rows")
        for key in ("live", "there", "unknown", "erased", "erased-too"):
            new_prepared_file(shared, key)
        other = new_shared_table(new_share("other"), "crm.other")
        new_prepared_file(other, "other")

        found = prepared.erase_without_source(shared, store, frozenset({"source-live"}))

        assert found == 2
        assert known() == {"live", "there", "unknown", "other"}
        assert stored_files(shared) == {"live", "there", "unknown"}

    def test_takes_nothing_where_all_are_there(self, shared: SharedTable) -> None:
        new_prepared_file(shared, "live")

        found = prepared.erase_without_source(
            shared, AStore(), frozenset({"source-live"})
        )

        assert (found, known()) == (0, {"live"})


def test_strays_are_files_that_no_row_knows_for_an_hour(shared: SharedTable) -> None:
    for name, minutes in {"new": 59, "hour": 60, "old": 61, "older": 10_000}.items():
        put_file(shared, f"{name}.parquet", at=NOW - timedelta(minutes=minutes))
    new_prepared_file(shared, "known")
    put_file(shared, "known.parquet", at=NOW - DAY)

    prepared.erase_strays(shared, now=NOW)

    assert stored_files(shared) == {"new", "hour", "known"}
