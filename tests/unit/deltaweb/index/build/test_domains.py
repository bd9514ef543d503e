"""What an index says of a table's domains, whichever way it was made."""

from pathlib import Path

import pytest

from deltaweb.delta.log.paths import commit_name
from tests.support.index.index_builds import build_index
from tests.support.logs.delta_logs import commit_bytes
from tests.support.tables.clustered_table import (
    CLUSTERING,
    clustered_by,
    clustered_table,
    domain,
)


def test_clustering_columns_have_the_tables_names(tmp_path: Path) -> None:
    location = clustered_table(tmp_path, clustered_by("b", "a"), domain("app", "{}"))

    summary = build_index(location, None, tmp_path / "index").summary

    assert summary["clustering"] == ["b", "a"]
    assert list(summary["domains"]) == ["app", CLUSTERING]
    assert summary["domains"]["app"] == "{}"


def test_an_update_knows_what_older_commits_said(tmp_path: Path) -> None:
    location = clustered_table(tmp_path, clustered_by("b"), domain("app", "{}"))
    first = build_index(location, None, tmp_path / "first")
    commit = Path(location, "_delta_log", commit_name(1))
    commit.write_bytes(commit_bytes(domain("app", "", is_removed=True)))

    newer = build_index(location, None, tmp_path / "next", base=first.folder)

    assert newer.version == 1
    assert newer.summary["clustering"] == ["b"]
    assert list(newer.summary["domains"]) == [CLUSTERING]


@pytest.mark.parametrize(
    "configuration", ["", "[]", "{", '{"clusteringColumns": [["gone"]]}', "[" * 9_999]
)
def test_a_domain_that_says_nothing_names_no_column(tmp_path: Path, configuration: str):
    location = clustered_table(tmp_path, domain(CLUSTERING, configuration))

    summary = build_index(location, None, tmp_path / "index").summary

    assert summary["clustering"] == []
    assert len(summary["domains"][CLUSTERING]) <= 500


def test_very_many_domains_are_bounded(tmp_path: Path) -> None:
    many = [domain(f"app {number:03}", "x" * 9_999) for number in range(200)]
    location = clustered_table(tmp_path, clustered_by("a"), *many)

    summary = build_index(location, None, tmp_path / "index").summary

    assert len(summary["domains"]) == 20
    assert summary["clustering"] == ["a"]


def test_a_protocol_without_domains_has_none(tmp_path: Path) -> None:
    location = clustered_table(tmp_path, clustered_by("a"), features=["columnMapping"])

    summary = build_index(location, None, tmp_path / "index").summary

    assert (summary["clustering"], summary["domains"]) == ([], {})
