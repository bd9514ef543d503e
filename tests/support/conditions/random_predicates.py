"""Random conditions on random files."""

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from deltaweb.delta.scan.predicate import (
    And,
    Comparison,
    Constant,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Predicate,
)
from tests.support.files.random_files import LONG_TEXT, VALUES, scalar

if TYPE_CHECKING:
    from collections.abc import Callable

operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


@st.composite
def leaves(draw: st.DrawFn) -> Predicate:
    """A condition on one column, or on two."""
    path = draw(st.sampled_from(list(VALUES)))
    value = scalar(path, draw(VALUES[path]))
    choices: list[Callable[[], Predicate]] = [
        lambda: Comparison(path, draw(operators), value),
        lambda: In(
            path,
            tuple(scalar(path, v) for v in draw(st.lists(VALUES[path], max_size=3))),
        ),
        lambda: IsNull(path),
        lambda: IsNull(("st",)),
        lambda: Constant(draw(st.sampled_from([True, False, None]))),
        lambda: Like(
            ("s",),
            draw(
                st.sampled_from(["a%", "%b", "a_", "a\\%\\_%", LONG_TEXT + "%", "é%"])
            ),
        ),
    ]
    return draw(st.sampled_from(choices))()


predicates = st.recursive(
    leaves(),
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=1, max_size=3).map(lambda p: And(tuple(p)))
        | st.lists(inner, min_size=1, max_size=3).map(lambda p: Or(tuple(p)))
    ),
    max_leaves=6,
)
