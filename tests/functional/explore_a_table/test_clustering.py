"""By which columns a table is laid out, where its columns are shown."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import TABLE
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.shown_words import words
from tests.support.tables.clustered_table import (
    CLUSTERING,
    clustered_by,
    clustered_table,
)

pytestmark = pytest.mark.django_db


def test_is_shown_with_the_columns(viewer: Client, tmp_path: Path) -> None:
    new_indexed_table("things", Path(clustered_table(tmp_path, clustered_by("b", "a"))))

    overview = text_of(viewer, f"{TABLE}things/")
    schema = text_of(viewer, f"{TABLE}things/schema")

    assert "Clustered by <code>b</code>, <code>a</code>: rows with" in overview
    assert "Domain metadata" in words(overview)
    assert "clustered by b, a" in overview
    assert "clusteringColumns" not in overview
    beside = schema.partition("<h2>Clustered by</h2>")[2]
    assert re.findall(r"dw-chip[^>]*>(\w+)<", beside)[:2] == ["b", "a"]


def test_is_told_to_scripts_with_every_domain(viewer: Client, tmp_path: Path) -> None:
    new_indexed_table("things", Path(clustered_table(tmp_path, clustered_by("b"))))

    told = json_of(viewer, f"{TABLE}things.json")

    assert told["clustering_columns"] == ["b"]
    assert isinstance(told["domains"], dict)
    said = json.loads(told["domains"][CLUSTERING])
    assert said == {"clusteringColumns": [["col-b"]]}
    assert json_of(viewer, f"{TABLE}things/schema.json")["clustering_columns"] == ["b"]


def test_a_table_without_says_nothing_of_it(viewer: Client, tmp_path: Path) -> None:
    new_indexed_table("things", Path(clustered_table(tmp_path)))

    text = text_of(viewer, f"{TABLE}things/")

    assert "Clustered by" not in text
    assert CLUSTERING not in text
