"""A file that holds a row that the client wants is never dropped.

Random tables, random statistics as writers write them, random hints as clients spell
them; what the client wants is worked out in plain Python.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deltaweb.conditions.hints import Hints, parse_hints
from deltaweb.delta.scan.column_ranges import statistics_ranges
from deltaweb.delta.scan.predicate import And, to_expression
from deltaweb.delta.scan.pruning import prune
from deltaweb.delta.values.statistics.columns import parse_statistics
from deltaweb.index.query.partition_match import type_values
from tests.support.conditions.drawn_conditions import (
    JSON_CONDITIONS,
    SQL_CONDITIONS,
    leaves,
)
from tests.support.conditions.drawn_examples import examples
from tests.support.conditions.hint_conditions import (
    CLIENTS,
    Compare,
    Condition,
    Deny,
    OneOf,
    Same,
    Speller,
    json_hint,
    single,
    truth,
)
from tests.support.files.hinted_files import (
    PARTITION_SCHEMA,
    PARTITIONS,
    ROWS,
    SCHEMA,
    VALUES,
    File,
    files,
    log_text,
    statistics,
    zones,
    zones_said,
)

# === What is kept, and what has to be ===


def kept(table: Sequence[File], hints: Hints) -> list[bool]:
    """The files that the hints leave, from what a log holds of them."""
    maps = pa.array(
        [list(file.partition_values.items()) for file in table],
        pa.map_(pa.string(), pa.string()),
    )
    partitions: dict[Any, Any] = {
        (column.name,): type_values(maps, column).hinted_range
        for column in PARTITION_SCHEMA.fields
    }
    stats = pa.chunked_array([pa.array([file.stats for file in table], pa.string())])
    mask = prune(
        And(hints.predicates),
        len(table),
        [
            lambda _: partitions,
            lambda columns: statistics_ranges(
                parse_statistics(stats, SCHEMA, columns), columns
            ),
        ],
    )
    return [bool(item) for item in mask]


def drawn_speller(data: st.DataObject) -> Speller:
    """What spells conditions as the client of some zone."""
    return Speller(
        lambda choices: data.draw(st.sampled_from(choices)), data.draw(zones)
    )


def assert_nothing_is_lost(table, hints, condition, clients):
    """Check the files, and each row against the conditions that the hints became."""
    for file, is_kept in zip(table, kept(table, hints), strict=True):
        wanted = [
            row
            for row in file.rows
            if any(truth(condition, row, client) for client in clients)
        ]
        assert is_kept or not wanted
        rows = pa.Table.from_pylist(wanted, ROWS)
        for predicate in hints.predicates:
            assert rows.filter(to_expression(predicate)).num_rows == len(wanted)


tables = st.lists(files(), min_size=1, max_size=3)
SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]


@st.composite
def one_column(draw: st.DrawFn) -> tuple[File, Condition]:
    """A file with values in one column, and a comparison of that column, or denied."""
    column = draw(st.sampled_from(list(VALUES)))
    values = draw(st.lists(VALUES[column], min_size=1, max_size=2))
    rows: list[dict[str, Any]] = [dict.fromkeys(ROWS.names) for _ in values]
    for row, value in zip(rows, values, strict=True):
        _put_value(row, column, single(value) if column == "f" else value)
    partition = dict.fromkeys(PARTITIONS)
    if column in PARTITIONS:
        partition = {**partition, column: values[0]}
    texts = {
        name: log_text(value, zone=draw(zones_said))
        for name, value in partition.items()
    }
    kind = draw(st.sampled_from([Compare, Compare, OneOf, Same]))
    leaf = draw(leaves([column], [kind]))
    file = File([{**row, **partition} for row in rows], texts, draw(statistics(rows)))
    return file, draw(st.sampled_from([leaf, Deny(leaf)]))


def _put_value(row: dict[str, Any], column: str, value: object) -> None:
    if column in PARTITIONS:
        return
    top, *below = column.split(".")
    row[top] = {"x": None, "t": None, below[0]: value} if below else value


class TestNothingIsLost:
    @settings(max_examples=examples(250), suppress_health_check=SLOW)
    @given(case=one_column(), data=st.data())
    def test_by_a_comparison_of_one_column(self, case, data):
        file, condition = case
        spell = drawn_speller(data)

        hints = parse_hints(
            predicate_hints=[spell.sql(condition)],
            json_predicate_hints=None,
            schema=SCHEMA,
        )

        assert not hints.skipped
        assert_nothing_is_lost([file], hints, condition, CLIENTS)

    @settings(max_examples=examples(80), suppress_health_check=SLOW)
    @given(table=tables, condition=SQL_CONDITIONS, data=st.data())
    def test_by_a_hint_in_sql(self, table, condition, data):
        spell = drawn_speller(data)

        hints = parse_hints(
            predicate_hints=[spell.sql(condition)],
            json_predicate_hints=None,
            schema=SCHEMA,
        )

        assert not hints.skipped
        assert_nothing_is_lost(table, hints, condition, CLIENTS)

    @settings(max_examples=examples(80), suppress_health_check=SLOW)
    @given(table=tables, condition=JSON_CONDITIONS, swap=st.booleans())
    def test_by_a_hint_in_json(self, table, condition, swap):
        hints = parse_hints(
            predicate_hints=None,
            json_predicate_hints=json_hint(condition, swap=swap),
            schema=SCHEMA,
        )

        assert not hints.skipped
        assert_nothing_is_lost(table, hints, condition, CLIENTS)
