"""Properties in plain words: all that are checked, with defaults that may be set."""

from deltaweb.delta.protocol.known_properties import KNOWN_PROPERTIES
from deltaweb.delta.writing.operations.properties import (
    EXPECTED,
    TURNED_ON,
    check_properties,
)

WITHOUT_A_VALUE = {
    "delta.setTransactionRetentionDuration",
    "delta.dataSkippingStatsColumns",
}


def test_what_is_checked_is_explained() -> None:
    assert set(EXPECTED) <= set(KNOWN_PROPERTIES)
    assert {name for name in TURNED_ON if "Iceberg" not in name} - set(
        KNOWN_PROPERTIES
    ) == {"delta.enableVariantShredding"}


def test_every_default_may_be_set() -> None:
    check_properties(
        {
            name: known.default
            for name, known in KNOWN_PROPERTIES.items()
            if name not in WITHOUT_A_VALUE
        }
    )


def test_they_stand_in_order() -> None:
    assert [*KNOWN_PROPERTIES] == sorted(KNOWN_PROPERTIES)
