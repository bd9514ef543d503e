"""The page of a commit offers to take it back, to those who may."""

import pytest
from django.test import Client

from apps.tables.models import Commit
from tests.support.pages.factories import new_commit, new_metadata, new_table, signed_in

pytestmark = pytest.mark.django_db
UNDO = "Undo this commit"


@pytest.fixture(autouse=True)
def tables() -> None:
    for name, location in (("own", "/lake/own"), ("theirs", "received://acme/a/b")):
        table = new_table(f"sales.{name}", version=2, summary={}, location=location)
        new_metadata(table)
        for version in range(3):
            new_commit(table, version)


def commit(client: Client, version: int, table: str = "own") -> str:
    return client.get(f"/t/sales/{table}/history/{version}").content.decode()


def test_an_editor_undoes_any_commit_but_the_first() -> None:
    client = signed_in("eve", role="EDITOR")

    newest, older, first = (commit(client, version) for version in (2, 1, 0))

    for page, version in ((newest, 2), (older, 1)):
        assert UNDO in page
        assert 'action="/t/sales/own/undo"' in page
        assert f'<input type="hidden" name="version" value="{version}">' in page
    assert UNDO not in first
    assert "Restore v1" in older


def test_a_commit_without_files_is_undone_while_it_is_the_newest() -> None:
    client = signed_in("eve", role="EDITOR")
    Commit.objects.update(num_added_files=0, changes_metadata=True)

    assert UNDO in commit(client, 2)
    assert UNDO not in commit(client, 1)


def test_a_commit_that_the_log_has_lost_is_not_undone() -> None:
    Commit.objects.update(is_archived=True)

    assert UNDO not in commit(signed_in("eve", role="EDITOR"), 1)


def test_a_viewer_finds_the_code_alone() -> None:
    client = signed_in("vera")

    newest, older = commit(client, 2), commit(client, 1)

    assert UNDO not in newest
    assert "Code to restore v1" in older
    assert "/restore?version" not in newest + older
    assert "/undo" not in newest + older


def test_a_received_table_is_not_changed_here() -> None:
    client = signed_in("eve", role="EDITOR")

    assert UNDO not in commit(client, 2, "theirs")
    assert "/restore?version" not in commit(client, 1, "theirs")
