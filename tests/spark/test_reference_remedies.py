"""What Spark takes out of a table opens it to the clients that it stopped."""

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable as Deltalake

from deltaweb.delta.features.known.clients import DELTALAKE, POLARS
from deltaweb.delta.features.known.readings import direct_readings
from deltaweb.delta.features.known.remedies import remedy
from deltaweb.delta.features.registry import required_features
from deltaweb.table import DeltaTable
from tests.support.golden.recorded_views import RECORDED, of_recorded, recorded_facts
from tests.support.peers.reference_implementation import Reference, RefusedError

pytestmark = pytest.mark.exhaustive  # every run has test_reference_in_turn
PEERS: dict[str, Callable[[str], int]] = {
    DELTALAKE: lambda folder: pa.table(Deltalake(folder).scan()).num_rows,
    POLARS: lambda folder: pl.scan_delta(folder).collect().height,
}


def stopping(folder: Path) -> set[str]:
    """The features of the newest version that any client is known not to read."""
    facts = recorded_facts(folder)
    readings = direct_readings(required_features(facts.protocol), facts)
    return {name for reading in readings for name in reading.stopped_by}


# Tables of few versions: Spark writes several checkpoints for what it takes out.
SMALL = {
    "delta-spark__checkpoint-v2-json",
    "delta-spark__mapped-nested",
    "delta-spark__widened",
    "golden__table-with-columnmapping-mode-id",
    "golden__type-widening-nested",
    "golden__v2-checkpoint-json",
    "golden__basic-with-vacuum-protocol-check-feature",
    "deltars__spark-shredded-variant-preview-delta",
}


@of_recorded(one for one in RECORDED if one.name in SMALL)
def test_the_statements_open_the_table_or_the_feature_stays(
    reference: Reference, folder: Path, version: int, num_rows: int, tmp_path: Path
) -> None:
    del version
    place = tmp_path / "table"
    shutil.copytree(folder, place)
    stops = stopping(place)
    removable = [name for name in sorted(stops) if remedy(name).is_dropped]
    assert stops

    for name in removable:
        for statement in remedy(name).statements(name, f"delta.`{place}`"):
            reference.ask(sql=statement)
    for name in stops.difference(removable):
        with pytest.raises(RefusedError, match="NONREMOVABLE"):
            reference.ask(sql=f"ALTER TABLE delta.`{place}` DROP FEATURE `{name}`")

    assert stopping(place) == stops.difference(removable)
    assert DeltaTable(str(place)).snapshot().read().num_rows == num_rows
    facts = recorded_facts(place)
    for reading in direct_readings(required_features(facts.protocol), facts):
        if reading.reads and reading.client.name in PEERS:
            assert PEERS[reading.client.name](str(place)) == num_rows
