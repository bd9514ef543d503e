"""Who reads what is not read here: a refused feature has an answer or none."""

from deltaweb.delta.features.known.readings import FeatureReaders, feature_readers


def test_readers_are_named_in_a_sentence() -> None:
    several = FeatureReaders("feature", ("Delta Lake 1.2", "deltalake", "DuckDB"))
    catalog, unknown = feature_readers(["catalogManaged", "timeTravelMachine"])

    assert several.sentence == "Delta Lake 1.2, deltalake and DuckDB read it"
    assert catalog.sentence == "clients that ask the table's catalog read it"
    assert unknown.sentence == (
        "the engine that wrote it reads it, other clients may not"
    )
