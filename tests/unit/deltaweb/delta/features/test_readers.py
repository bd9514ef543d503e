"""Who reads what is not read here: every refused feature has an answer or none."""

import pytest

from deltaweb.delta.features.feature import Reading
from deltaweb.delta.features.readers import FeatureReaders, feature_readers
from deltaweb.delta.features.registry import FEATURES


@pytest.mark.parametrize(
    "feature", [feature.name for feature in FEATURES.values() if feature.readers]
)
def test_only_features_that_are_refused_have_readers_elsewhere(feature: str) -> None:
    assert FEATURES[feature].reading is Reading.REFUSED


def test_readers_are_named_in_a_sentence() -> None:
    several = FeatureReaders("feature", ("Delta Lake 1.2", "deltalake", "DuckDB"))
    catalog, unknown = feature_readers(["catalogManaged", "timeTravelMachine"])

    assert several.sentence == "Delta Lake 1.2, deltalake and DuckDB read it"
    assert catalog.sentence == "clients that ask the table's catalog read it"
    assert unknown.sentence == (
        "the engine that wrote it reads it, other clients may not"
    )
