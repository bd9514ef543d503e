"""For random tables and rules: what is read in the browser is what the client reads.

Every row carries a text of its own, so that a byte of a hidden one can be told on any
page and in any file. `pytest -m exhaustive` has fifty tables.
"""

import io
from pathlib import Path

import pyarrow.parquet as pq

from tests.functional.portal.conftest import NewVisitor
from tests.functional.portal.visitors import path_of, work
from tests.functional.sharing_api.calls import Caller, body_of
from tests.functional.sharing_api.ruled import Ruled
from tests.functional.sharing_api.test_random_rules import RULES, SCHEMA, History
from tests.support import matrix
from tests.support.pages.factories import new_share, new_shared_table, new_table

OFTEN = {2, 6, 7}
"""Mapped or not, with vectors, feed and partitions or not."""


@matrix("seed", range(50), often=OFTEN)
def test_rows_are_those_of_the_client(
    seed: int, tmp_path: Path, new_visitor: NewVisitor
) -> None:
    root = tmp_path / "lake"
    history = History(root, seed)
    chance = history.chance
    table = new_table("lab.random", location=str(root))
    share = new_share("lab", in_browser=True)
    ruled = Ruled(history.table, new_shared_table(share, "lab.random", table=table))
    acme = new_visitor("acme", share, properties={"level": 30})
    is_whole = seed % 5 == 4
    condition = "" if is_whole else chance.choice(RULES)[0]
    columns = chance.choice([(), (), ("id", "token"), ("id", "number", "ratio")])
    ruled.rule(condition, *(() if is_whole else columns))
    for _ in range(5):
        history.step()
        ruled.prepare()
    acme.sign_in()
    path = path_of(ruled.shared)
    acme.get(path)
    acme.post(f"{path}/download", {"format": "parquet"})
    acme.get(f"{path}/changes")
    work()
    answer = acme.post(f"{path}/download", {"format": "parquet"})
    file = body_of(answer)
    rows, changes, tables = (
        acme.get(address) for address in (path, f"{path}/changes", "/portal/")
    )

    found = pq.read_table(io.BytesIO(file)).to_pylist()
    expected = ruled.rows(Caller(acme.token, acme.secret))

    assert _plain(found) == _plain(expected)
    whole = history.table.snapshot().read().to_pylist()
    seen = {str(row.get("token")) for row in expected}
    hidden = {str(row["token"]) for row in whole} - seen
    newest = file + rows.content + tables.content
    assert [text for text in hidden if text.encode() in newest] == []
    names = set(SCHEMA.names) - set(columns or SCHEMA.names)
    if not is_whole:
        text = (newest + changes.content).decode(errors="replace")
        assert [name for name in names if f">{name}<" in text] == []


def _plain(rows: list[dict[str, object]]) -> list[str]:
    return sorted(str(sorted(row.items())) for row in rows)
