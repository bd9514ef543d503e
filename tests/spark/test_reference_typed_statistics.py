"""Versions of ours, of tables whose checkpoints hold statistics only typed.

The reference implementation restores and clones no version in which a file with a
vector lacks its number of rows.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from deltaweb.table import DeltaTable
from tests.support.peers.reference_implementation import Reference

pytestmark = pytest.mark.exhaustive  # every run has test_reference_in_turn
PROPERTIES = {
    "delta.enableDeletionVectors": "true",
    "delta.checkpoint.writeStatsAsJson": "false",
    "delta.checkpoint.writeStatsAsStruct": "true",
    "delta.checkpointInterval": "3",
}
COLUMNS = "n BIGINT, t TIMESTAMP, l TIMESTAMP_NTZ, x DECIMAL(12,3)"
ROWS = (
    "INSERT INTO {t} SELECT id, timestamp_micros(1700000000123456 + id),"
    " CAST(timestamp_micros(1700000000123456 + id) AS TIMESTAMP_NTZ),"
    " CAST(id / 8 AS DECIMAL(12,3)) FROM range({first}, {end}, 1, 1)"
)
FIRST = {"t": "2023-11-14T22:13:20.123Z", "l": "2023-11-14T22:13:20.123"}
COUNT = "SELECT count(*) FROM {t} WHERE t >= TIMESTAMP'2023-11-14 22:13:20.123'"
BY_REFERENCE = "checkpoint by the reference"
BY_US = "checkpoint by us"


@pytest.fixture
def folder(checkpoint: str, reference: Reference, tmp_path: Path) -> Path:
    """Two files, of which each has a row that is marked, and a checkpoint."""
    place = tmp_path / "table"
    properties = dict(PROPERTIES)
    if checkpoint == BY_US:
        properties["delta.checkpointInterval"] = "100"
    told = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    reference.sql(
        f"CREATE TABLE {{t}} ({COLUMNS}) USING delta TBLPROPERTIES ({told})", place
    )
    for first in (0, 20):
        reference.sql(ROWS.format(t="{t}", first=first, end=first + 20), place)
    reference.sql("DELETE FROM {t} WHERE n IN (3, 23)", place)
    if checkpoint == BY_US:
        DeltaTable(str(place)).create_checkpoint()
    return place


def statistics(table: DeltaTable) -> list[dict[str, Any]]:
    """What the newest commit says of the files that it marks."""
    adds = [action.get("add") for action in table.read_commit(table.latest_version())]
    return [json.loads(add["stats"]) for add in adds if add and "deletionVector" in add]


@pytest.mark.parametrize("checkpoint", [BY_REFERENCE, BY_US])
def test_are_restored_and_cloned_by_the_reference(reference: Reference, folder: Path):
    table = DeltaTable(str(folder))
    told = []

    table.delete("n = 4")
    told += statistics(table)
    table.update({"x": "0"}, "n = 25")
    told += statistics(table)
    table.restore(version=3)
    told += statistics(table)

    assert [one["numRecords"] for one in told] == [20] * 4
    assert not any(one["tightBounds"] for one in told)
    for one in told:
        found = one["minValues"]
        assert {"t": found["t"], "l": found["l"]} == FIRST
    clone = folder.with_name("clone")
    made = f"CREATE TABLE delta.`{clone}` SHALLOW CLONE {{t}}"
    reference.sql(f"{made} VERSION AS OF 5", folder)
    reference.sql("RESTORE TABLE {t} TO VERSION AS OF 4", folder)
    ((count,),) = reference.sql(COUNT, folder)
    assert count == 37
