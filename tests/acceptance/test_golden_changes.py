"""The change data feeds of the recorded tables, by the hash of their rows."""

import json

import pytest

from deltaweb.delta.errors import UnsupportedFeatureError
from tests.support.golden.canonical import content_sha256, lines
from tests.support.golden.golden_refusals import (
    is_of_unread_features,
    snapshot_or_refusal,
)
from tests.support.golden.golden_tables import NAMES, expected_of, golden_table

FEED_FIELDS = [
    {"name": "_change_type", "type": "string"},
    {"name": "_commit_version", "type": "long"},
]


@pytest.mark.parametrize("name", [one for one in NAMES if "cdf" in expected_of(one)])
def test_changes_are_those_that_were_recorded(name: str) -> None:
    recorded = expected_of(name)
    said = recorded["cdf"]
    table = golden_table(name)

    if is_of_unread_features(snapshot_or_refusal(table, said["end"])):
        with pytest.raises(UnsupportedFeatureError):
            table.changes(said["start"], said["end"])
        return

    rows = table.changes(said["start"], said["end"]).read_all()

    newest = recorded["versions"][str(recorded["latest_version"])]
    schema = json.loads(recorded["schemas"][newest["schema"]])
    schema["fields"] += FEED_FIELDS
    assert rows.num_rows == said["rows"]
    assert content_sha256(lines(json.dumps(schema), rows)) == said["content_sha256"]
