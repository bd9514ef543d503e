"""Recorded tables as `Use this table` shows them, with how many rows they have."""

import json
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from apps.explorer.use.selector import access_by
from apps.explorer.use.snippets import ShownView
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.delta.features.registry import required_features
from deltaweb.delta.protocol.action_values import parse_protocol
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.golden import golden_modern, golden_tables

FOLDERS = {**golden_modern.FOLDERS, **golden_tables.FOLDERS}
ODD_STATISTICS = "derived__stats-odd"  # no JSON, as no writer makes: deltalake fails


class Recorded(NamedTuple):
    """A recorded table, its newest version and how many rows that has."""

    folder: Path
    version: int
    num_rows: int

    @property
    def name(self) -> str:
        """As it was recorded."""
        return self.folder.parent.name


def _recorded() -> Iterator[tuple[Recorded, Protocol]]:
    for name, folder in FOLDERS.items():
        path = folder / "expected.json"
        said = json.loads(path.read_text(encoding="utf-8"))
        version = said.get("latest_version")
        newest = (said.get("versions") or {}).get(str(version), {})
        rows = newest.get("rows")
        if rows is not None and name != ODD_STATISTICS:
            one = Recorded(folder / "table", version, rows)
            yield one, parse_protocol(newest["protocol"], path=path.name)


PROTOCOLS = dict(_recorded())
RECORDED = [*PROTOCOLS]


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


@cache
def one_of_each() -> list[Recorded]:
    """Return a recorded table for each set of features that readers must know."""
    kinds: dict[frozenset[str], Recorded] = {}
    for one, protocol in PROTOCOLS.items():
        kinds.setdefault(frozenset(required_features(protocol)), one)
    return [*kinds.values()]


def of_recorded(
    tables: Iterable[Recorded], *, often: Collection[str] | None = None
) -> pytest.MarkDecorator:
    """Run a test for each of some tables: `folder`, `version`, `num_rows`.

    Args:
        often: Names of those of every run, None for all.
    """
    named = {one.name: one for one in tables}
    chosen = named if often is None else named.keys() & {*often}
    return cases(", ".join(Recorded._fields), named, often=chosen)
