"""Files stop at a limit only where enough rows surely are what the client wants."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.conditions.hints import Hints, parse_hints
from deltaweb.delta.protocol.schema import format_schema
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support import cases
from tests.support.conditions.drawn_conditions import JSON_CONDITIONS, SQL_CONDITIONS
from tests.support.conditions.drawn_examples import examples
from tests.support.conditions.hint_conditions import (
    CLIENTS,
    Condition,
    Deny,
    Join,
    OneOf,
    Speller,
    json_hint,
    truth,
)
from tests.support.files.hinted_files import PARTITIONS, SCHEMA, files, zones
from tests.support.logs.delta_logs import Action, LogBuilder, add, deletion_vector
from tests.support.logs.local_logs import LocalLog, stats_of, typed_schema

pytestmark = pytest.mark.slow

Opening: TypeAlias = Callable[[Sequence[Action]], SharedVersion]

FIELDS = {"schemaString": format_schema(SCHEMA), "partitionColumns": list(PARTITIONS)}


def replayed(actions: Sequence[Action]) -> SharedVersion:
    log = LogBuilder().start(*actions, **FIELDS)
    return SharedTableReader().open_version(log.table, index_folder=None)


def indexed(actions: Sequence[Action]) -> SharedVersion:
    with _local_log() as log:
        log.start(*actions, **FIELDS)
        return SharedTableReader().open_version(log.table, index_folder=log.index())


@contextmanager
def _local_log() -> Iterator[LocalLog]:
    with TemporaryDirectory() as folder:
        yield LocalLog(Path(folder))


def listed(version: SharedVersion, hints: Hints, limit: int) -> set[str]:
    chosen = version.select(
        predicates=hints.predicates, misses=hints.misses, limit=limit
    )
    return {path for batch in chosen.batches() for path in batch["path"].to_pylist()}


def without_nulls(condition: Condition) -> Condition:
    """The condition as the JSON hint has it: its lists hold no null."""
    match condition:
        case OneOf(column, values):
            return OneOf(column, values)
        case Deny(part):
            return Deny(without_nulls(part))
        case Join(operator, parts):
            return Join(operator, tuple(without_nulls(part) for part in parts))
    return condition


@st.composite
def asked(draw: st.DrawFn) -> tuple[Sequence[Condition], Hints]:
    """What a client wants, and what it says of that."""
    spell = Speller(lambda choices: draw(st.sampled_from(choices)), draw(zones))
    if draw(st.booleans()):
        wanted: Sequence[Condition] = [without_nulls(draw(JSON_CONDITIONS))]
        tree: str | None = json_hint(wanted[0], swap=draw(st.booleans()))
        texts = [spell.sql(wanted[0])] if draw(st.booleans()) else None
    else:
        wanted = draw(st.lists(SQL_CONDITIONS, max_size=2))
        texts, tree = [spell.sql(one) for one in wanted], None
    return wanted, parse_hints(
        predicate_hints=texts, json_predicate_hints=tree, schema=SCHEMA
    )


class TestRowsThatTheClientWants:
    @pytest.mark.parametrize(
        ("opening", "count"), [(replayed, 80), (indexed, 15)], ids=["log", "index"]
    )
    def test_come_up_to_the_limit(self, opening: Opening, count: int) -> None:
        @settings(max_examples=examples(count))
        @given(
            table=st.lists(files(), min_size=1, max_size=4),
            questions=st.lists(asked(), min_size=1, max_size=4),
            limit=st.integers(1, 5),
        )
        def check(table, questions, limit):
            version = opening(
                [
                    add(str(k), partitionValues=file.partition_values, stats=file.stats)
                    for k, file in enumerate(table)
                ]
            )
            for wanted, hints in questions:
                found = listed(version, hints, limit)
                for client in CLIENTS:
                    rows = [
                        str(k)
                        for k, file in enumerate(table)
                        for row in file.rows
                        if all(truth(one, row, client) for one in wanted)
                    ]
                    assert sum(k in found for k in rows) >= min(limit, len(rows))

        check()


SCHEMA_TEXT = typed_schema(id="long", name="string", price="double", p="integer")


def stats(low: object, high: object, *, nulls: int = 0, column: str = "id") -> str:
    found = json.loads(stats_of(10, {column: low}, {column: high}))
    return json.dumps({**found, "nullCount": {column: nulls}})


class TestAFileThatCounts:
    """Of two files the second one is left out where the first one counts."""

    @cases(
        "text, first, counts",
        {
            "by bounds": ("id < 5", stats(0, 4), True),
            "not all by bounds": ("id < 5", stats(0, 9), False),
            "not nulls": ("id < 5", stats(0, 4, nulls=1), False),
            "some nulls": ("id IS NULL", stats(0, 4, nulls=3), False),
            "nulls": ("id IS NULL", stats(None, None, nulls=10), True),
            "no nulls": ("id IS NOT NULL", stats(0, 4), True),
            "no bounds": ("id < 5", '{"numRecords":10}', False),
            "no statistics": ("id < 5", None, False),
            "by its partition": ("p = 1", '{"numRecords":10}', True),
            "by another one": ("p <> 2", '{"numRecords":10}', True),
            "one of two": ("p = 1 AND id < 5", stats(0, 9), False),
            "either of two": ("p = 1 OR id < 5", stats(0, 9), True),
            "cut text": ("name < 'zb'", stats("a", "z", column="name"), False),
            "whole text": ("name < 'zb'", stats("a", "y", column="name"), True),
            "perhaps NaN": ("price < 5", stats(0, 4, column="price"), False),
            "a list with null": ("p IN (2, NULL)", stats(0, 9), False),
            "what is not understood": ("id + 1 < 9", stats(0, 4), False),
        },
    )
    @pytest.mark.parametrize("has_index", [True, False], ids=["indexed", "replayed"])
    def test_has_no_row_that_the_client_may_not_want(
        self,
        tmp_path: Path,
        text: str,
        first: str | None,
        *,
        counts: bool,
        has_index: bool,
    ) -> None:
        values = {"p": "1"}
        fields = {"partitionValues": values}
        one = add("1", **fields) if first is None else add("1", stats=first, **fields)
        log = LocalLog(tmp_path).start(
            one, add("2", **fields), schemaString=SCHEMA_TEXT, partitionColumns=["p"]
        )
        index = log.index() if has_index else None
        version = SharedTableReader().open_version(log.table, index_folder=index)
        hints = parse_hints(
            predicate_hints=[text], json_predicate_hints=None, schema=version.schema
        )
        every = set() if text.startswith("p IN") else {"1", "2"}

        assert listed(version, hints, 1) == ({"1"} if counts else every)

    def test_is_not_one_whose_rows_are_partly_deleted(self) -> None:
        log = LogBuilder().start(
            add("1", stats=stats(0, 4), deletionVector=deletion_vector("0" * 20)),
            add("2", stats=stats(0, 4)),
            add("3", stats=stats(0, 4)),
        )
        version = SharedTableReader().open_version(log.table, index_folder=None)

        assert listed(version, Hints(), 1) == {"1", "2"}
