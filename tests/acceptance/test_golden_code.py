"""The code that pages give people runs on tables of each feature, or cannot.

Every client is asked for every recorded table: its code reads as many rows as the
reference implementation did; where the page says that a client is stopped, that client
really fails. So what is known of clients cannot rot unseen.
"""

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.explorer.readers.ways_in import copy_code
from apps.explorer.use.snippets import restore_snippets
from apps.explorer.use.snippets.tools import TOOLS
from deltaweb.delta.writing.requirements import removal_refusal
from deltaweb.table import DeltaTable
from tests.support.golden.golden_tables import SOME_NAMES
from tests.support.golden.recorded import outside
from tests.support.golden.recorded_views import (
    RECORDED,
    of_recorded,
    one_of_each,
    recorded_facts,
    recorded_view,
)
from tests.support.peers.duckdb_runner import SidecarDuckDB

ANSWERED_ELSEWHERE = {"sharing", "sql", "pyspark", "curl"}  # by servers, and by Spark


@pytest.fixture(scope="module")
def duckdb_beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarDuckDB]:
    """A DuckDB that has its delta extension."""
    with closing(SidecarDuckDB(tmp_path_factory.mktemp("duckdb"))) as started:
        yield started


@of_recorded(RECORDED, often={*SOME_NAMES, *(one.name for one in one_of_each())})
def test_code_reads_all_rows_and_who_is_stopped_fails(
    folder: Path, version: int, num_rows: int, duckdb_beside: SidecarDuckDB
) -> None:
    view = recorded_view(folder, version)

    for tool in TOOLS:
        if tool.key in ANSWERED_ELSEWHERE:
            continue
        made = tool.snippet(view)
        assert made is not None
        if not made.refusal:
            told = run(made.text, duckdb_beside)
            assert told == num_rows, f"{told}\n{made.text}"
        for way in tool.ways:
            if way.reader in view.refusals:
                told = run(way.make(view), duckdb_beside)
                assert isinstance(told, str), f"{view.refusals[way.reader]} {told}"


STOPS = {
    "deltalake": {"type widening"},
    "Polars": {"column mapping", "type widening", "V2 checkpoints", "variant"},
    "DuckDB": {"the type of column nothing"},
}
"""Who is stopped by what of our own tables."""
MORE_STOPS = {
    "deltalake": {
        *("type widening (preview)", "vacuum checks the protocol"),
        "shredded variant (preview)",
    },
    "Polars": {
        *("type widening (preview)", "vacuum checks the protocol"),
        "shredded variant (preview)",
    },
    "DuckDB": {"the type of column void_col"},
}
"""Who is stopped by what of the tables outside."""


def test_tables_of_each_feature_are_among_them() -> None:
    refused: dict[str, set[str]] = {}
    for one in RECORDED:
        view = recorded_view(one.folder, one.version)
        for reader, why in view.refusals.items():
            refused.setdefault(reader, set()).add(why)

    stops = STOPS
    if outside("DELTAWEB_GOLDEN") is not None:
        stops = {reader: stops[reader] | MORE_STOPS[reader] for reader in stops}
        for reader in ("deltaweb", "Spark + Delta"):
            (why,) = refused.pop(reader)
            assert "typeWidening of byte_decimal" in why
    assert refused == {
        reader: {f"{reader} is stopped by {stop}." for stop in found}
        for reader, found in stops.items()
    }


@of_recorded(one_of_each())
def test_the_copy_for_those_who_are_stopped_is_read_by_all(
    folder: Path,
    version: int,
    num_rows: int,
    duckdb_beside: SidecarDuckDB,
    tmp_path: Path,
) -> None:
    facts = recorded_facts(folder, version)
    if recorded_view(folder, version).refusals.get("deltaweb"):
        return
    place = tmp_path / "table"
    place.symlink_to(folder)

    exec(copy_code(str(place), facts), {})  # noqa: S102 (what people are told to run)
    copied = replace(recorded_view(tmp_path / "table-copy", 1), name="found")

    assert not copied.refusals
    for tool in TOOLS:
        made = tool.snippet(copied)
        if tool.key not in ANSWERED_ELSEWHERE:
            assert made is not None
            assert run(made.text, duckdb_beside) == num_rows


@of_recorded(one for one in one_of_each() if one.version)
def test_code_brings_a_version_back_or_nothing_is_written(
    folder: Path, version: int, num_rows: int, tmp_path: Path
) -> None:
    del num_rows
    copied = tmp_path / "table"
    shutil.copytree(folder, copied)
    table = DeltaTable(str(copied))
    refusal = removal_refusal(table.definition(), root=str(copied), operation="RESTORE")
    view = replace(
        recorded_view(copied, version - 1),
        write_refusal="" if refusal is None else refusal.message,
    )
    code = {made.key: made.text for made in restore_snippets(view)}["restore-python"]

    if refusal is not None:
        assert not code
        with pytest.raises(type(refusal)):
            table.restore(version - 1)
        return
    exec(code, {})  # noqa: S102 (what people are told to run)

    assert table.latest_version() == version + 1
    assert table.snapshot().num_files == table.snapshot(version - 1).num_files


def run(code: str, duckdb_beside: SidecarDuckDB) -> int | str:
    """Run code as people do, and return the number of its rows, or its error."""
    if "delta_scan(" in code and "pl.scan_delta" not in code:
        told = duckdb_beside.run(code, "found")
        return int(told["num_rows"]) if "num_rows" in told else str(told["error"])
    names: dict[str, Any] = {}
    try:
        exec(code, names)  # noqa: S102 (what people are told to run)
        found = names["found"]
        num_rows = found.shape[0]
    except Exception as error:  # noqa: BLE001 (which one is what is asked)
        return f"{type(error).__name__}: {error}"
    return int(num_rows)
