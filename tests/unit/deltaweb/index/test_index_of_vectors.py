"""An index of files with deletion vectors counts their live rows, and keeps which."""

from pathlib import Path

import pytest

from deltaweb.index.folder.file_index import open_files
from tests.support.index.index_folders import commit_rows
from tests.support.logs.delta_logs import Action, add, deletion_vector, remove
from tests.support.logs.indexed_logs import Indexed


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    return Indexed(tmp_path)


def masked(path: str, *, deleted: int, offset: int) -> Action:
    vector = {**deletion_vector("v", offset), "cardinality": deleted}
    file: Action = add(path, deletionVector=vector, stats='{"numRecords":10}')
    return file


def gone(path: str, *, deleted: int, offset: int) -> Action:
    vector = {**deletion_vector("v", offset), "cardinality": deleted}
    return remove(path, deletionVector=vector)


@pytest.mark.parametrize("is_stepwise", [False, True])
def test_rows_that_vectors_delete_are_not_counted(indexed, *, is_stepwise):
    whole: Action = add("f", stats='{"numRecords":10}')
    steps = [
        (whole,),
        (remove("f"), masked("f", deleted=3, offset=1)),
        (gone("f", deleted=3, offset=1), masked("f", deleted=4, offset=43)),
    ]
    base = indexed.index().num_records or 0
    for step in steps:
        indexed.commit(*step)
        if is_stepwise:
            indexed.index()
            assert indexed.has_gone_on
    result = indexed.index()

    assert result.num_records == base + 6
    assert indexed.folder is not None
    commits = commit_rows(indexed.folder)[-3:]
    assert [row["num_records"] for row in commits] == [base + 10, base + 7, base + 6]
    assert [row["added_rows"] for row in commits] == [10, 7, 6]
    assert commits[-1]["removed_rows"] in {7, None}
    files = {row["path"]: row for row in open_files(indexed.folder).to_pylist()}
    assert (files["f"]["num_records"], files["f"]["deleted_rows"]) == (6, 4)
    indexed.assert_is_what_the_log_gives()
