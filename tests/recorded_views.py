"""Recorded tables as `Use this table` shows them, with how many rows they have."""

import json
import os
from pathlib import Path

import pytest

from apps.explorer.use.access import access_by
from apps.explorer.use.snippets import ShownView
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.delta.features.registry import required_features
from deltaweb.table import DeltaTable

ROOT = Path(os.environ.get("DELTAWEB_GOLDEN") or "/nonexistent")
FOLDERS = sorted(
    path
    for tables in (ROOT / "modern" / "tables", ROOT / "tables")
    for path in tables.glob("*/expected.json")
)
ODD_STATISTICS = "derived__stats-odd"  # no JSON, as no writer makes: deltalake fails


def _newest(path: Path) -> tuple[int, int] | None:
    """Return the newest version and its rows; None where none is read."""
    said = json.loads(path.read_text(encoding="utf-8"))
    version = said.get("latest_version")
    rows = (said.get("versions") or {}).get(str(version), {}).get("rows")
    return None if rows is None else (version, rows)


RECORDED = [
    pytest.param(path.parent.resolve() / "table", *found, id=path.parent.name)
    for path in FOLDERS
    if (found := _newest(path)) and path.parent.name != ODD_STATISTICS
]
"""Each folder, its newest version and how many rows that has."""


def recorded_facts(folder: Path, version: int | None = None) -> VersionFacts:
    """Return what decides who reads a version, the newest one for None."""
    snapshot = DeltaTable(str(folder)).snapshot_metadata(version)
    return VersionFacts(snapshot.protocol, snapshot.metadata, snapshot.schema)


def recorded_view(folder: Path, version: int) -> ShownView:
    """Return a version as the page shows it."""
    snapshot = DeltaTable(str(folder)).snapshot_metadata(version)
    facts = recorded_facts(folder, version)
    refusal = snapshot.refusal.message if snapshot.refusal else ""
    access = access_by(facts, refusal=refusal)
    return ShownView(
        name="found",
        location=str(folder),
        version=version,
        has_text_partitions=access.has_text_partitions,
        has_nested=access.has_nested,
        has_variants=access.has_variants,
        refusals=access.refusals,
        doubts=access.doubts,
    )


def one_of_each() -> list[pytest.param]:  # type: ignore[valid-type]  # a function's
    """Return a recorded table for each set of features that readers must know."""
    kinds = {}
    for case in RECORDED:
        folder, version, _ = case.values
        protocol = recorded_facts(folder, version).protocol
        kinds.setdefault(frozenset(required_features(protocol)), case)
    return [*kinds.values()]
