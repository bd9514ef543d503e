"""For random tables, rules and histories: what is read is what the rule selects.

Every row carries a text of its own, so that a byte of a hidden one can be told in
whatever was served, lines and files alike. `pytest -m exhaustive` has more histories.
"""

import math
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from pytest_django import Settings

from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.ruled import Ruled
from tests.support import matrix
from tests.support.pages.factories import new_share, new_shared_table, new_table

Row = dict[str, Any]

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("part", pa.string()),
        pa.field("number", pa.int64()),
        pa.field("ratio", pa.float64()),
        pa.field("word", pa.string()),
        pa.field("token", pa.string()),
    ]
)
LONG = "x" * 40
RULES: list[tuple[str, Callable[[Row], bool | None]]] = [
    ("number > 50", lambda row: _known(row["number"], lambda it: it > 50)),
    ("NOT (number > 50)", lambda row: _known(row["number"], lambda it: it <= 50)),
    ("number <> 30", lambda row: _known(row["number"], lambda it: it != 30)),
    ("number IS NULL", lambda row: row["number"] is None),
    ("number IN (10, 20, 30)", lambda row: row["number"] in {10, 20, 30}),
    ("ratio < 0.5", lambda row: _known(row["ratio"], lambda it: it < 0.5)),
    # To Spark NaN is above every number.
    (
        "ratio >= 0.5",
        lambda row: _known(row["ratio"], lambda it: math.isnan(it) or it >= 0.5),
    ),
    ("word = 'mid'", lambda row: row["word"] == "mid"),
    ("word < 'n'", lambda row: _known(row["word"], lambda it: it < "n")),
    (f"word <= '{LONG}'", lambda row: _known(row["word"], lambda it: it <= LONG)),
    ("word LIKE 'x%'", lambda row: _known(row["word"], lambda it: it[:1] == "x")),
    ("part = 'a'", lambda row: row["part"] == "a"),
    (
        "part = 'a' AND number >= 20",
        lambda row: row["part"] == "a" and _known(row["number"], lambda it: it >= 20),
    ),
    (
        "part = 'b' OR number < 40",
        lambda row: row["part"] == "b" or _known(row["number"], lambda it: it < 40),
    ),
    (
        "number = recipient.level OR word = recipient.name",
        lambda row: row["number"] == 30 or row["word"] == "acme",
    ),
    (
        "upper(word) = 'MID' AND number % 20 = 10",
        lambda row: (
            row["word"] == "mid" and _known(row["number"], lambda it: it % 20 == 10)
        ),
    ),
]


def _known(value: Any, judge: Callable[[Any], bool]) -> bool:  # noqa: ANN401 (any type)
    return value is not None and judge(value)


class History:
    """A table to which chance does things, and the rows of each version."""

    def __init__(self, root: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        properties = {}
        if self.chance.random() < 0.5:
            properties["delta.columnMapping.mode"] = "name"
        if self.chance.random() < 0.5:
            properties["delta.enableDeletionVectors"] = "true"
        if seed % 3:
            properties[CHANGE_DATA_FEED_PROPERTY] = "true"
        parts = ["part"] if self.chance.random() < 0.5 else []
        self.table = DeltaTable.create(
            str(root), SCHEMA, partition_by=parts, properties=properties
        )
        self.count = 0

    def rows(self) -> pa.Table:
        """Some rows, alike more often than not, so that files lie inside of rules."""
        chance = self.chance
        alike = chance.random() < 0.6
        numbers = [chance.choice([10, 20, 30, 60, 70])] if alike else range(0, 100, 10)
        words = ["mid"] if alike else ["mid", "acme", "zed", None, LONG, LONG + "y"]
        made = []
        for _ in range(chance.randint(1, 12)):
            self.count += 1
            made.append(
                {
                    "id": self.count,
                    "part": chance.choice(["a", "b", None]),
                    "number": None if chance.random() < 0.1 else chance.choice(numbers),
                    "ratio": chance.choice([0.1, 0.5, 0.9, math.nan, None]),
                    "word": chance.choice(words),
                    "token": f"{chance.getrandbits(64):016x}",
                }
            )
        return pa.Table.from_pylist(made, SCHEMA)

    def step(self) -> None:
        """Make the next version."""
        kind = self.chance.choice(["append"] * 4 + ["delete", "update", "optimize"])
        picked = self.chance.randint(1, max(1, self.count))
        if kind == "delete":
            self.table.delete(f"id % 7 = {picked % 7}")
        elif kind == "update":
            self.table.update({"number": "number + 10"}, f"id = {picked}")
        elif kind == "optimize":
            self.table.optimize()
        else:
            self.table.append(self.rows())


OFTEN = {2, 6, 7}
"""Mapped or not, with vectors, feed and partitions or not."""


@matrix("seed", range(12), often=OFTEN)
def test_what_is_read_is_what_the_rule_selects_at_that_version(
    seed: int, tmp_path: Path, settings: Settings, new_caller: NewCaller
) -> None:
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    root = tmp_path / "lake"
    history = History(root, seed)
    chance = history.chance
    table = new_table("lab.random", location=str(root))
    shared = new_shared_table(new_share("lab"), "lab.random", table=table)
    ruled = Ruled(history.table, shared)
    acme = new_caller("acme", shared.share, properties={"level": 30})
    condition, judge = chance.choice(RULES)
    columns = chance.choice([(), (), ("id", "token"), ("id", "number", "ratio")])
    ruled.rule(condition, *columns)
    expected: dict[int, list[Row]] = {}
    tokens: set[str] = set()
    for _ in range(5):
        history.step()
        ruled.prepare()
        version = history.table.latest_version()
        whole = history.table.snapshot(version).read().to_pylist()
        tokens.update(row["token"] for row in whole)
        expected[version] = [row for row in whole if judge(row)]

    shown: set[str] = set()
    for version, rows in expected.items():
        wanted = [{name: row[name] for name in columns or SCHEMA.names} for row in rows]
        if not columns or "token" in columns:
            shown.update(row["token"] for row in rows)
        assert _plain(ruled.rows(acme, {"version": version})) == _plain(wanted)
        if (version == max(expected)) and ruled.told(acme)["version"] == version:
            assert _plain(ruled.rows(acme)) == _plain(wanted)

    if seed % 3:
        _check_changes(ruled.changes(acme, min(expected) + 1), expected, columns)
    assert ruled.has_served(*(tokens - shown)) == []


def _check_changes(found, expected, columns):
    """Each version's changes are what comes and what goes, and nothing beside it."""
    names = columns or SCHEMA.names
    for before, version in pairwise(expected):
        wanted: Counter[str] = Counter()
        for at, sign in ((version, 1), (before, -1)):
            for text in _plain([{n: r[n] for n in names} for r in expected[at]]):
                wanted[text] += sign
        told: Counter[str] = Counter()
        for one, kind, row in found:
            if one == version:
                told[_plain([row])[0]] += 1 if kind == "insert" else -1
        num_told = sum(one == version for one, _, _ in found)
        assert {row: n for row, n in told.items() if n} == {
            row: n for row, n in wanted.items() if n
        }
        assert num_told == sum(map(abs, wanted.values()))


def _plain(rows: list[Row]) -> list[str]:
    return sorted(str(sorted(row.items())) for row in rows)
