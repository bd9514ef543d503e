"""A file that holds a matching row is never left out, however stats were written."""

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.scan.predicate import Comparison, Not, Predicate, to_expression
from deltaweb.delta.scan.pruning import files_for_expression, files_for_predicate
from deltaweb.delta.values.statistics.columns import parse_statistics
from tests.support.conditions.drawn_examples import examples
from tests.support.conditions.random_predicates import operators, predicates
from tests.support.files.random_files import (
    PARTITIONS,
    ROWS,
    SCHEMA,
    VALUES,
    File,
    files,
    scalar,
    written_stats,
)


def _partitions(table: Sequence[File]) -> pa.StructArray:
    fields = [ROWS.field(name) for name in PARTITIONS]
    return pa.array([file.partition for file in table], pa.struct(fields))


def _matching(table: Sequence[File], predicate: Predicate) -> list[bool]:
    expression = to_expression(predicate)
    return [file.rows.filter(expression).num_rows > 0 for file in table]


NO_VALUES = dict.fromkeys(ROWS.names)


@st.composite
def one_column(draw: st.DrawFn) -> tuple[File, Predicate]:
    """A file with values in one column, and a comparison of that column."""
    data = [path for path in VALUES if path[0] not in PARTITIONS]
    path = draw(st.sampled_from(data))
    values = draw(st.lists(VALUES[path], min_size=1, max_size=2))
    table = [
        {**NO_VALUES, path[0]: {path[1]: value} if path[1:] else value}
        for value in values
    ]
    partition = {"p": None, "q": None}
    stats = written_stats(table, draw(st.sampled_from([1, 2, 32])), set())
    literal = scalar(path, draw(VALUES[path]))
    predicate: Predicate = Comparison(path, draw(operators), literal)
    if draw(st.booleans()):
        predicate = Not(predicate)
    return File(pa.Table.from_pylist(table, ROWS), partition, stats), predicate


class TestSkippingFiles:
    @settings(max_examples=examples(300))
    @given(case=one_column())
    def test_reads_each_bound_as_loosely_as_it_was_written(self, case):
        file, predicate = case
        stats = pa.chunked_array([pa.array([file.stats])])

        selected = files_for_predicate(
            predicate,
            _partitions([file]),
            lambda columns: parse_statistics(stats, SCHEMA, columns),
        )

        assert selected[0] or not _matching([file], predicate)[0]

    @settings(max_examples=examples(100))
    @given(table=st.lists(files(), min_size=1, max_size=4), predicate=predicates)
    def test_never_leaves_out_a_file_with_a_matching_row(self, table, predicate):
        stats = pa.chunked_array(
            [pa.array([file.stats for file in table], pa.string())]
        )

        selected = files_for_predicate(
            predicate,
            _partitions(table),
            lambda columns: parse_statistics(stats, SCHEMA, columns),
        )

        for matches, is_selected in zip(
            _matching(table, predicate), selected, strict=True
        ):
            assert is_selected or not matches

    @settings(max_examples=examples(50))
    @given(table=st.lists(files(), min_size=1, max_size=4), predicate=predicates)
    def test_never_leaves_out_such_a_file_for_an_arrow_expression(
        self, table: list[File], predicate: Predicate
    ) -> None:
        expression = to_expression(predicate)

        selected = files_for_expression(expression, _partitions(table), ROWS)

        for matches, is_selected in zip(
            _matching(table, predicate), selected, strict=True
        ):
            assert is_selected or not matches
