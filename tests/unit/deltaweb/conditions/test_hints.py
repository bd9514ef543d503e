"""Whatever is sent as a hint, it breaks nothing."""

import inspect
import json
import sys
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from deltaweb.conditions.hints import Hints, parse_hints, reach_of
from deltaweb.conditions.json import MAX_DEPTH
from deltaweb.conditions.sql_text import parse_sql
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.scan.predicate import And
from tests.support.conditions.hint_cases import (
    EQUAL,
    SCHEMA,
    json_hints,
    op,
    selected,
    sql_hints,
)

WORDS = (
    "( ) NOT - + ~ p k day ok = < > <=> IN LIKE AND OR IS NULL TRUE 5 5L 'x' . , CAST "
    "AS DATE INT DECIMAL BETWEEN CASE WHEN THEN END SELECT FROM [ ] { } : ? ; X'0' -- "
    "DATE'2021-04-27' 1e999 ESCAPE `p` partitionValues. /* */ \\ ' \" \0 \ud800"
)
words = st.sampled_from(WORDS.split(" "))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["column", "literal", "p", "day", "int", "date", "9"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["op", "children", "name", "value", "valueType", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


class TestWhateverIsSent:
    @given(hints=st.lists(st.lists(words, max_size=12).map(" ".join), max_size=3))
    def test_words_of_sql_never_raise(self, hints: Sequence[str]) -> None:
        selected_files = selected(sql_hints("p = 9", *hints))

        assert selected_files in {"", "b"}

    @given(hint=st.lists(words, max_size=12).map(" ".join))
    def test_what_parsed_before_is_the_hint_that_it_is_as_text(self, hint: str) -> None:
        try:
            parsed = parse_sql(hint)
        except PredicateError:
            return

        found = sql_hints(hint).predicates
        expected = And(found) if len(found) > 1 else next(iter(found), None)
        assert reach_of(parsed, SCHEMA) == expected

    @given(hint=st.text() | st.binary() | json_values)
    def test_no_value_ever_raises(self, hint: object) -> None:
        found = parse_hints(
            predicate_hints=hint, json_predicate_hints=hint, schema=SCHEMA
        )

        assert isinstance(found, Hints)

    def test_little_stack_is_left(self) -> None:
        tree: object = EQUAL
        for _ in range(MAX_DEPTH - 3):
            tree = op("not", tree)
        text = json.dumps(tree)

        def deeper(levels: int) -> Hints:
            if levels:
                return deeper(levels - 1)
            return parse_hints(
                predicate_hints=["(" * 19 + "p = 9" + ")" * 19],
                json_predicate_hints=text,
                schema=SCHEMA,
            )

        free = sys.getrecursionlimit() - len(inspect.stack(0))
        found = [deeper(free - frames_left) for frames_left in range(60, 600, 10)]

        for hints in found:
            assert len(hints.predicates) + len(hints.skipped) == 2
        reasons = {hint.reason for hints in found for hint in hints.skipped}
        assert reasons == {"it nests too deeply", "it nests deeper than 20 levels"}

    @given(tree=json_values)
    def test_no_json_ever_raises(self, tree: object) -> None:
        assert isinstance(json_hints(json.dumps(tree)), Hints)
