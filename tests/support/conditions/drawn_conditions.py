"""Random conditions that clients ask with, over the columns of `hinted_files`."""

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.support.conditions.hint_conditions import (
    JSON_TYPES,
    Compare,
    Condition,
    Deny,
    IsTrue,
    Join,
    Null,
    OneOf,
    Same,
    Starts,
)
from tests.support.files.hinted_files import LONG_TEXT, VALUES

operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


@st.composite
def leaves(draw: st.DrawFn, columns: Sequence[str], kinds: Sequence[type]) -> Condition:
    column = draw(st.sampled_from(columns))
    values = VALUES[column]
    kind = draw(st.sampled_from(kinds))
    if kind is Null:
        return Null(column)
    if kind is IsTrue:
        return IsTrue(draw(st.sampled_from(["b", "pb"])))
    if kind is Starts:
        prefixes = st.sampled_from(["a", "x", LONG_TEXT, LONG_TEXT + "y", "é", "C"])
        return Starts(draw(st.sampled_from(["s", "ps"])), draw(prefixes))
    if kind is OneOf:
        several = tuple(draw(st.lists(values, min_size=1, max_size=3)))
        return OneOf(column, several, has_null=draw(st.booleans()))
    if kind is Same:
        return Same(column, draw(values))
    return Compare(column, draw(operators), draw(values))


def conditions(leaf: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    return st.recursive(
        leaf,
        lambda inner: (
            inner.map(Deny)
            | st.builds(
                Join,
                st.sampled_from(["and", "or"]),
                st.lists(inner, min_size=2, max_size=3).map(tuple),
            )
        ),
        max_leaves=5,
    )


COMPARISONS = [Compare] * 4
SQL_CONDITIONS = conditions(
    leaves(list(VALUES), [*COMPARISONS, OneOf, Same, Null, IsTrue, Starts])
)
JSON_CONDITIONS = conditions(
    leaves(list(JSON_TYPES), [*COMPARISONS, OneOf, Null, IsTrue])
)
