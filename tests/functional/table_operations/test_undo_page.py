"""The page that undoes a commit: what would return and go, then the commit."""

from pathlib import Path

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import Work
from tests.support.pages.factories import new_commit
from tests.support.pages.shown_words import words
from tests.support.tables.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
UNDO = "/t/default/orders/undo"


def ids(folder: Path) -> list[int]:
    return sorted(DeltaTable(str(folder)).snapshot().read()["id"].to_pylist())


def look(editor: Client, work: Work, version: int) -> Job:
    """The job that has found out what an undo would do."""
    assert editor.post(UNDO, {"version": version}).status_code == 302
    return work()


def test_offers_the_newest_versions_to_pick_from(editor: Client, orders: Table) -> None:
    for version in range(4):
        new_commit(orders, version)

    page = page_text(editor, UNDO)

    assert 'type="number" name="version"' not in page
    assert '<input type="radio" name="version" value="3" required>' in page
    picked = page_text(editor, f"{UNDO}?v=2")
    assert '<input type="radio" name="version" value="2" required checked>' in picked
    assert 'aria-valuetext="Version 2,' in picked


@pytest.mark.usefixtures("orders")
def test_shows_first_what_returns_and_what_goes(
    editor: Client, work: Work, folder: Path
) -> None:
    before = ids(folder)

    job = look(editor, work, 2)

    assert job.state == Job.State.DONE, job.error
    page = page_text(editor, UNDO)
    assert "Dry run of v3" in words(page)
    assert "Later commits keep their effect." in page
    assert "Undo v2</button>" in page
    assert ids(folder) == before
    assert not AuditEvent.objects.filter(action="table.undo").exists()
    told = page_json(editor, UNDO)["job"]["result"]
    assert told["counts"] == {"num_files_back": 0, "num_files_gone": 1}
    assert (told["undoes"], told["is_newest"], told["refusal"]) == (2, False, "")


def test_does_what_was_shown_and_keeps_later_commits(
    editor: Client, work: Work, folder: Path, orders: Table
) -> None:
    before, old = (DeltaTable(str(folder)).snapshot(v).read() for v in (3, 2))
    job = look(editor, work, 2)

    editor.post(UNDO, {"seen": str(job.id)})
    done = work()

    assert done.state == Job.State.DONE, done.error
    table = DeltaTable(str(folder))
    gone = {*old["id"].to_pylist()} - {
        *DeltaTable(str(folder)).snapshot(1).read()["id"].to_pylist()
    }
    assert ids(folder) == sorted({*before["id"].to_pylist()} - gone)
    info = table.read_commit(4)[0]["commitInfo"]
    assert (info["operation"], info["userName"]) == ("UNDO", "eve")
    page = page_text(editor, UNDO)
    assert "Committed version 4" in page
    event = AuditEvent.objects.get(action="table.undo")
    assert (event.actor, event.table_id) == ("eve", orders.id)
    assert event.detail["version"] == 2


@pytest.mark.usefixtures("orders")
def test_says_why_a_commit_cannot_be_undone(
    editor: Client, work: Work, folder: Path
) -> None:
    DeltaTable(str(folder)).delete("id > 0")

    look(editor, work, 2)

    page = page_text(editor, UNDO)
    assert "Version 2 cannot be undone: version 4 (DELETE) removed or rewrote" in page
    assert "Undo v2</button>" not in page
    assert 'href="/t/default/orders/restore?version=1"' in page


@pytest.mark.usefixtures("orders")
def test_that_became_impossible_is_not_done(
    editor: Client, work: Work, folder: Path
) -> None:
    job = look(editor, work, 2)
    DeltaTable(str(folder)).delete("id > 0")

    editor.post(UNDO, {"seen": str(job.id)})

    assert work().state == Job.State.FAILED
    assert DeltaTable(str(folder)).latest_version() == 4


@pytest.mark.usefixtures("orders")
def test_that_a_killed_worker_had_committed_is_done(
    editor: Client, work: Work, folder: Path
) -> None:
    look_job = look(editor, work, 2)
    editor.post(UNDO, {"seen": str(look_job.id)})
    done = work()
    after = ids(folder)
    killed = {"state": Job.State.QUEUED, "result": None, "finished_at": None}
    Job.objects.filter(id=done.id).update(**killed)

    again = work()

    assert (again.id, again.state, again.attempts) == (done.id, Job.State.DONE, 2)
    assert isinstance(again.result, dict)
    assert again.result["done_before"] is True
    assert DeltaTable(str(folder)).latest_version() == 4
    assert ids(folder) == after
