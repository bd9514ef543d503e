"""The bins of a histogram: few, of equal width, and every value in one of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.profile.histogram import (
    MAX_BINS,
    counts_between,
    edges_of,
    estimated_counts,
)
from tests.support import cases

DAY_US = 86_400_000_000


@cases(
    "kind, low, high, edges",
    {
        "one value": ("integer", 7, 7, [7, 8]),
        "few whole numbers": ("integer", 1, 4, [1, 2, 3, 4, 5]),
        "round steps": ("integer", 3, 97, [*range(0, 101, 5)]),
        "below zero": ("integer", -15, 14, [*range(-16, 17, 2)]),
        "weeks": ("date", 0, 100, [*range(0, 106, 7)]),
        "hours": ("timestamp", 0, DAY_US - 1, [n * DAY_US // 24 for n in range(25)]),
        "parts": ("double", 0.0, 1.0, [n / 20 for n in range(22)]),
    },
)
def test_edges_are_round(kind, low, high, edges):
    assert [*edges_of(kind, low, high)] == pytest.approx(edges)


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.sampled_from(["integer", "timestamp", "date"]),
)
def test_every_whole_number_is_in_one_of_few_bins(values: list[int], kind: str):
    edges = edges_of(kind, min(values), max(values))

    assert len(edges) <= MAX_BINS + 1
    assert edges[0] <= min(values)
    assert max(values) < edges[-1]
    assert sum(counts_between(np.array(values, np.int64), edges)) == len(values)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_number_is_in_one_of_few_bins(values: list[float]):
    edges = edges_of("double", min(values), max(values))

    assert len(edges) <= MAX_BINS + 1
    assert edges[0] <= min(values)
    assert sum(counts_between(np.array(values), edges)) == len(values)


def test_an_estimate_is_near_the_counts():
    values = np.sort(np.random.default_rng(1).normal(0, 100, 10_000))
    quantiles = values[np.linspace(0, 9_999, 201).astype(int)]
    edges = edges_of("double", values[0], values[-1])

    estimate = estimated_counts(quantiles.tolist(), len(values), edges)

    assert sum(estimate) == len(values)
    assert estimate == pytest.approx(counts_between(values, edges), abs=100)
