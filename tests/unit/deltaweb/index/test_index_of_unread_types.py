"""A column of a type that is not known takes nothing from the index of the others."""

from pathlib import Path

import pytest

from deltaweb.conditions.hints import parse_hints
from deltaweb.index.folder.result import INDEXED
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.table import DeltaTable
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import open_index
from tests.support.tables.span_table import write_span_table


@pytest.mark.parametrize("is_partitioned", [False, True])
class TestIndex:
    def test_holds_files_and_statistics(self, tmp_path: Path, *, is_partitioned: bool):
        folder = write_span_table(tmp_path / "t", is_partitioned=is_partitioned)

        result = build_index(str(folder), None, tmp_path / "index")

        assert (result.state, result.num_files, result.num_columns) == (INDEXED, 1, 4)
        row = open_index(tmp_path / "index").files.to_pylist()[0]
        assert row["min"]["id"] == 1
        assert row["null_count"]["span"] == 1
        assert "span" not in row["min"]
        if is_partitioned:
            assert row["partition"] == {"months": "1-1"}

    @pytest.mark.parametrize("has_index", [False, True])
    def test_answers_queries(self, tmp_path, *, is_partitioned, has_index):
        folder = write_span_table(tmp_path / "t", is_partitioned=is_partitioned)
        build_index(str(folder), None, tmp_path / "index")
        index = tmp_path / "index" if has_index else None

        opened = SharedTableReader().open_version(
            DeltaTable(str(folder)), index_folder=index
        )

        for text, count in [
            ("id > 3", 0),
            ("id > 1", 1),
            ("span IS NULL", 1),
            ("months IS NULL", 1),
            ("months IS NOT NULL", 1),
        ]:
            hints = parse_hints(
                predicate_hints=[text], json_predicate_hints=None, schema=opened.schema
            )
            chosen = opened.select(
                predicates=hints.predicates, misses=hints.misses, limit=1
            )
            assert chosen.num_files == count, text
        skipped = parse_hints(
            predicate_hints=["span > 5"],
            json_predicate_hints=None,
            schema=opened.schema,
        )
        assert len(skipped.skipped) == 1
