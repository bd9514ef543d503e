"""The page of a commit offers to take it back, to those who may."""

import pytest
from django.test import Client

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


def test_an_editor_undoes_the_newest_by_a_restore_of_the_one_before() -> None:
    client = signed_in("eve", role="EDITOR")

    newest, older = commit(client, 2), commit(client, 1)

    assert UNDO in newest
    assert 'href="/t/sales/own/restore?version=1"' in newest
    assert UNDO not in older
    assert "Restore v1" in older


def test_a_viewer_finds_the_code_alone() -> None:
    client = signed_in("vera")

    newest, older = commit(client, 2), commit(client, 1)

    assert UNDO not in newest
    assert "Code to restore v1" in older
    assert "/restore?version" not in newest + older


def test_a_received_table_is_not_changed_here() -> None:
    client = signed_in("eve", role="EDITOR")

    assert UNDO not in commit(client, 2, "theirs")
    assert "/restore?version" not in commit(client, 1, "theirs")
