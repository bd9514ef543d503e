"""Who reads what is not read here: every refused feature has an answer or none."""

import pytest

from deltaweb.delta.feature_readers import READERS, feature_readers
from deltaweb.delta.table_features import FEATURES, Reading


@pytest.mark.parametrize("feature", sorted(READERS))
def test_only_features_that_are_refused_have_readers_elsewhere(feature: str) -> None:
    refused = {Reading.REFUSED, Reading.UNLESS_MAPPED}

    assert FEATURES[feature].reading in refused


def test_readers_are_named_in_a_sentence() -> None:
    mapping, catalog, unknown = feature_readers(
        ["columnMapping", "catalogManaged", "timeTravelMachine"]
    )

    assert mapping.sentence == (
        "Delta Lake 1.2 and later on Spark, deltalake for Python and "
        "DuckDB's delta extension read it"
    )
    assert catalog.sentence == "clients that ask the table's catalog read it"
    assert unknown.sentence == (
        "the engine that wrote it reads it, other clients may not"
    )
