"""What the newest version's checksum file says of it, on the first page of a table."""

import json
from pathlib import Path

import pytest

from tests.functional.explore_a_table.pages import TABLE
from tests.support import cases
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.answers import json_of, text_of
from tests.support.tables.fed_table import renamed_things

pytestmark = pytest.mark.django_db
URL = f"{TABLE}things"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return renamed_things().on_disk(tmp_path / "things")


@cases(
    "content, words, state",
    {
        "right": ({"numFiles": 0}, "it agrees with the log", "RIGHT"),
        "wrong": (
            {"numFiles": 1, "tableSizeBytes": 0},
            "it differs from the log: numFiles",
            "WRONG",
        ),
        "none": (None, "there is none for this version", "MISSING"),
    },
)
def test_is_told(viewer, folder, content, words, state):
    if content is not None:
        name = f"{3:020d}.crc"
        (folder / "_delta_log" / name).write_text(json.dumps(content))
    new_indexed_table("things", folder)

    page = text_of(viewer, f"{URL}/")

    assert f"Checksum file of v3: {words}" in page
    told = json_of(viewer, f"{URL}.json")["checksum"]
    assert isinstance(told, dict)
    assert told["state"] == state
    assert json_of(viewer, f"{URL}.json?v=2")["checksum"] is None
