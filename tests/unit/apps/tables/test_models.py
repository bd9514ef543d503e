import pytest

from apps.tables.models import ProtocolVersion
from deltaweb.delta.errors import (
    SchemaMissingError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
)

ROOT = "s3://lake at version 9 uses/a b"


@pytest.mark.parametrize(
    ("reason", "refusal"),
    [
        pytest.param(
            UnsupportedFeatureError(
                root=ROOT, version=0, features=["deletionVectors"]
            ).message,
            "It uses deletionVectors, which this server does not read.",
            id="a feature",
        ),
        pytest.param(
            UnsupportedProtocolError(
                root=ROOT, version=12, min_reader_version=5, supported=3
            ).message,
            "It needs reader version 5; this server reads up to 3.",
            id="a reader",
        ),
        pytest.param("It uses teleport.", "It uses teleport.", id="other words"),
        pytest.param("", "", id="none"),
    ],
)
def test_a_refusal_names_neither_the_place_nor_a_version(
    reason: str, refusal: str
) -> None:
    assert ProtocolVersion(unsupported_reason=reason).refusal == refusal


def test_a_schema_that_is_missing_is_missing_everywhere() -> None:
    reason = SchemaMissingError(root=ROOT, version=3).message

    refusal = ProtocolVersion(unsupported_reason=reason).refusal

    assert refusal.endswith("it is missing from the metaData.")
