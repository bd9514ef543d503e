"""The files that the funnel says are read are those that the reader opens."""

from pathlib import Path

import pyarrow.compute as pc
import pytest

from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.explained_files import explained_files
from deltaweb.index.query.funnel import READ, explain
from deltaweb.index.query.questions import Question
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.table import DeltaTable
from tests.support import matrix
from tests.support.conditions.table_conditions import conditions_of
from tests.support.golden.golden_modern import LARGE, NAMES, ModernTable
from tests.support.stores.counted_place import MarkingStore, opened

TABLES = [name for name in NAMES if name not in LARGE]
OFTEN = TABLES[::8]


@matrix("name", TABLES, often=OFTEN)
def test_the_reader_opens_just_the_files_that_the_funnel_leaves(
    name: str, tmp_path: Path
):
    store = MarkingStore(str(ModernTable(name).folder), tmp_path)
    snapshot = DeltaTable.from_store(store).snapshot_metadata()
    if snapshot.refusal is not None:
        pytest.skip("its rows may not be read")
    version = SharedVersion(snapshot, root=store.root, parts={})
    rows = snapshot.read()
    for sql in conditions_of(snapshot.schema, rows):
        question = Question(sql, version.schema, version.metadata)
        parts = [*version.live_parts()]
        found = explain(question, parts)
        read = explained_files(
            found,
            [part for part, _ in parts],
            reasons=found.funnel.reasons_of(READ),
        )
        expected = [path for batch in read for path in batch["path"].to_pylist()]
        for mark in tmp_path.iterdir():
            mark.unlink()

        matching = snapshot.read(predicate=sql)

        data_files = set(snapshot.files["path"].to_pylist())
        assert [path for path in opened(tmp_path) if path in data_files] == sorted(
            expected
        ), sql
        condition = SQLCondition(sql, snapshot.schema)
        (whole,) = rows.combine_chunks().to_batches() or [None]
        count = 0 if whole is None else pc.sum(condition.holds(whole)).as_py() or 0
        assert matching.num_rows == count, sql
