"""A row of statistics reads the same whatever stands beside it."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.values.statistics.columns import parse_statistics
from tests.support.conditions.drawn_examples import examples
from tests.support.logs.parsed_statistics import SCHEMA, column, parsed

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "x", "2021-01-01", "2021-01-01T00:00:00Z", "NaN", "5"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["x", "y", "z"]), inner, max_size=2)
    ),
    max_leaves=3,
)
values = st.dictionaries(st.sampled_from(list(SCHEMA.names)), json_values, max_size=4)
objects = st.fixed_dictionaries(
    {},
    optional={
        "numRecords": json_values,
        "minValues": values | json_values,
        "maxValues": values,
        "nullCount": values,
    },
)


class TestBothWays:
    @settings(max_examples=examples(150))
    @given(
        st.lists(objects, min_size=1, max_size=5),
        st.none()
        | st.sets(st.sampled_from(["i", "n", "f", "s", "d", "st"]), min_size=1),
    )
    def test_a_row_reads_the_same_alone_and_beside_a_broken_one(self, items, names):
        texts = [json.dumps(item) for item in items]
        columns = None if names is None else sorted(names)

        together = parse_statistics(column(*texts, "broken"), SCHEMA, columns)

        alone = [repr(parsed(text, columns=columns)[0]) for text in texts]
        assert [repr(row) for row in together.to_pylist()[:-1]] == alone
