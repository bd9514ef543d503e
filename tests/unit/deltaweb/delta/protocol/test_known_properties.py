"""Properties in plain words: all that are checked, with defaults that may be set."""

import re
from pathlib import Path

import deltaweb
from deltaweb.delta.protocol.known_properties import (
    KNOWN_PROPERTIES,
    OTHER_PROPERTIES,
)
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


ROOT = Path(deltaweb.__file__).parent.parent
OF_PROTOCOL = {"delta.minReaderVersion", "delta.minWriterVersion"}
KEEPS_ONLY = {"known_properties.py", "conflicts.py", "properties.py", "health_facts.py"}
"""Modules that explain, check, compare and report values, and do nothing else."""


def test_the_manual_lists_those_without_effect() -> None:
    said = {*KNOWN_PROPERTIES, *OTHER_PROPERTIES}
    used = {
        name
        for folder in ("deltaweb", "apps")
        for path in (ROOT / folder).rglob("*.py")
        if path.name not in KEEPS_ONLY
        for name in re.findall(r"delta\.[A-Za-z0-9.]+", path.read_text())
    }
    page = (ROOT / "docs/manual/reference/supported.md").read_text()
    listed = page.partition("they do not change what it does:")[2].partition("## ")[0]

    assert (
        set(re.findall(r"`(delta\.[A-Za-z0-9.]+)`", listed))
        == said - used - OF_PROTOCOL
    )
