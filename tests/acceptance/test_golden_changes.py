"""The change data feeds of the recorded tables, by the hash of their rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from deltaweb.delta.errors import UnsupportedFeatureError
from deltaweb.table import DeltaTable
from tests.support.golden.golden_modern import ROOT, canon
from tests.support.golden.golden_refusals import (
    is_of_unread_features,
    snapshot_or_refusal,
)

TABLES = ROOT / "tables"
FEED_FIELDS = [
    {"name": "_change_type", "type": "string"},
    {"name": "_commit_version", "type": "long"},
]


def _with_feed() -> list[Path]:
    paths = sorted(TABLES.glob("*/expected.json"))
    return [path.parent for path in paths if '"cdf": {' in path.read_text()]


@pytest.mark.parametrize(
    "folder", [pytest.param(path, id=path.name) for path in _with_feed()]
)
def test_changes_are_those_that_were_recorded(folder: Path) -> None:
    recorded: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    said = recorded["cdf"]
    table = DeltaTable(str(folder / "table"))

    if is_of_unread_features(snapshot_or_refusal(table, said["end"])):
        with pytest.raises(UnsupportedFeatureError):
            table.changes(said["start"], said["end"])
        return

    rows = table.changes(said["start"], said["end"]).read_all()

    newest = recorded["versions"][str(recorded["latest_version"])]
    schema = json.loads(recorded["schemas"][newest["schema"]])
    schema["fields"] += FEED_FIELDS
    assert rows.num_rows == said["rows"]
    lines = canon().lines(json.dumps(schema), rows)
    assert canon().content_sha256(lines) == said["content_sha256"]
