"""Why a version is not read was stored with the table's place once."""

from importlib import import_module

from deltaweb.delta.errors import (
    SchemaMissingError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
)
from tests.support import cases

ROOT = "s3://lake at version 9 uses/a b"
migration = import_module("apps.tables.migrations.0007_refusals_without_places")


@cases(
    "reason, refusal",
    {
        "a feature": (
            UnsupportedFeatureError(
                root=ROOT, version=0, features=["deletionVectors"]
            ).message,
            "It uses deletionVectors, which this server does not read.",
        ),
        "a reader": (
            UnsupportedProtocolError(
                root=ROOT, version=12, min_reader_version=5, supported=3
            ).message,
            "It needs reader version 5; this server reads up to 3.",
        ),
        "one without": ("It uses teleport.", "It uses teleport."),
    },
)
def test_a_stored_refusal_loses_the_place_and_the_version(reason: str, refusal: str):
    assert migration.without_place(reason) == refusal


def test_a_schema_that_is_missing_is_missing_everywhere() -> None:
    reason = SchemaMissingError(root=ROOT, version=3).message

    assert migration.without_place(reason).endswith("it is missing from the metaData.")
