"""Pages of a table of which a rule hides rows: some files are whole, some rewritten.

`pytest -m exhaustive` reads every history by every condition.
"""

from pathlib import Path

import pyarrow as pa
import pytest
from pytest_django import Settings

from apps.sharing.answers import versions
from deltaweb.index.query.shared_table import SharedTableReader
from tests.functional.sharing_api.calls import files
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.ends import end_of, ids_of
from tests.functional.sharing_api.ruled import DELTA, Ruled
from tests.functional.sharing_api.test_random_rules import SCHEMA, History
from tests.support import matrix
from tests.support.index.indexed_tables import index_table
from tests.support.pages.factories import (
    new_share,
    new_shared_table,
    new_unindexed_table,
)

IN_DELTA = {"delta-sharing-capabilities": f"{DELTA};includeEndStreamAction=true"}
# Of each some files lie inside, some outside, and that of these rows on the border.
ON_THE_BORDER = pa.Table.from_pylist(
    [
        {"id": -1, "part": "a", "number": 70, "word": "mid"},
        {"id": -2, "part": "a", "number": 45, "word": "zed"},
        {"id": -3, "part": "a", "number": 10, "word": "zed"},
    ],
    SCHEMA,
)
CONDITIONS = ["number > 50", "word = 'mid'", "part = 'b' OR number < 40"]


IS_INDEXED = [True, True, False, False]
"""Of the history of each seed."""


@matrix(
    "seed, is_indexed, condition",
    [
        (seed, is_indexed, condition)
        for seed, is_indexed in enumerate(IS_INDEXED)
        for condition in CONDITIONS
    ],
    by=lambda _, is_indexed, condition: (is_indexed, condition),
)
def test_are_together_the_one_answer_while_the_table_goes_on(  # noqa: PLR0913 (as are fixtures)
    seed: int,
    condition: str,
    tmp_path: Path,
    *,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    new_caller: NewCaller,
    is_indexed: bool,
) -> None:
    settings.HOME = tmp_path
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    root = tmp_path / "lake"
    history = History(root, seed)
    chance = history.chance
    table = new_unindexed_table("lab.random", location=str(root))
    shared = new_shared_table(new_share("lab"), "lab.random", table=table)
    ruled = Ruled(history.table, shared)
    acme = new_caller("acme", shared.share)
    ruled.rule(condition)
    for _ in range(6):
        history.table.append(history.rows())
        if is_indexed and chance.random() < 0.3:
            index_table(table)
        ruled.prepare()
    history.table.append(ON_THE_BORDER)
    history.step()
    assert ruled.prepare()[0].rewritten
    whole = ruled.query(acme, **IN_DELTA)

    found: list[str] = []
    token = None
    while token is not None or not found:
        # The first page has one file, so that there is a second one.
        body = {"maxFiles": chance.randint(1, 3) if found else 1}
        page = ruled.query(
            acme, body | ({"pageToken": token} if token else {}), **IN_DELTA
        )
        token = end_of(page).get("nextPageToken")
        assert 1 <= len(files(page)) <= body["maxFiles"]
        found += ids_of(page)
        # Another process of the server answers next, which has read nothing yet.
        monkeypatch.setattr(versions, "_READER", SharedTableReader())
        history.step()
        if chance.random() < 0.7:
            ruled.prepare()
        if chance.random() < 0.5:
            index_table(table)

    assert sorted(found) == sorted(ids_of(whole))
    assert len(set(found)) == len(found)
