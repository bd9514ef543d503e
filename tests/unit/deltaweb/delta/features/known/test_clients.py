"""The registry of clients: every fact has a source and a date, and none is a guess."""

from datetime import date

import pytest

from deltaweb.delta.features.feature import Reading
from deltaweb.delta.features.known.clients import (
    ICEBERG,
    LOG,
    SHARE,
    UNKNOWN,
    WRITE,
    KnownClient,
    clients_of,
    known_on,
    readers_elsewhere,
)
from deltaweb.delta.features.registry import FEATURES
from deltaweb.sharing.response_format import IN_DELTA

ALL = [one for way in (LOG, SHARE, ICEBERG, WRITE) for one in clients_of(way)]
READING = [one for one in ALL if one not in clients_of(WRITE)]


@pytest.mark.parametrize("client", ALL, ids=lambda one: one.name)
def test_a_client_has_a_source_and_a_date(client: KnownClient) -> None:
    if client.source == "measured here":
        assert client.tried
    else:
        assert client.source.startswith("https://")
    assert date(2026, 11, 1) <= client.on <= known_on()


@pytest.mark.parametrize("client", READING, ids=lambda one: one.name)
def test_a_client_reads_features_that_exist(client: KnownClient) -> None:
    assert set(client.supports) <= {*FEATURES, "variantShredding-preview"}


@pytest.mark.parametrize("client", clients_of(SHARE), ids=lambda one: one.name)
def test_a_client_of_shares_has_only_what_answers_carry(client: KnownClient) -> None:
    assert client.supports.keys() <= IN_DELTA
    assert bool(client.supports) is ("delta" in client.formats)


def test_a_client_has_the_facts_of_the_one_below_it() -> None:
    pandas, polars = (
        next(one for one in clients_of(SHARE) if one.name == name)
        for name in ("pandas", "Polars")
    )

    assert polars.through == pandas.name
    assert polars.supports == pandas.supports
    assert polars.source == pandas.source


def test_what_no_source_says_is_not_known() -> None:
    (spark,) = (one for one in clients_of(SHARE) if one.name == "Spark")

    assert spark.support("variantType") is UNKNOWN


def test_only_features_that_are_refused_have_readers_elsewhere() -> None:
    found = [name for name in FEATURES if readers_elsewhere(name)]

    assert found == ["catalogManaged"]
    assert FEATURES["catalogManaged"].reading is Reading.REFUSED
