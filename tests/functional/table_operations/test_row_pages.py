"""The pages that delete and update rows: what is concerned, then the commit."""

from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.sharing.activity.action_words import action_words
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import Work, index_at
from tests.support.pages.shown_words import words
from tests.support.tables.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
DELETE = "/t/default/orders/delete-rows"
UPDATE = "/t/default/orders/update-rows"
RESTORE = "/t/default/orders/restore"
BOTH = pytest.mark.parametrize("page", [DELETE, UPDATE])
ASSIGNED = {"column": ["id", ""], "value": ["id + 100", ""]}


def ids(folder: Path) -> list[int]:
    return sorted(DeltaTable(str(folder)).snapshot().read()["id"].to_pylist())


@pytest.mark.usefixtures("orders")
class TestDeletingRows:
    def test_shows_the_rows_and_files_first(self, editor, work, folder):
        editor.post(DELETE, {"where": "id > 11 AND id < 31"})
        job = work()

        assert job.state == Job.State.DONE, job.error
        page = page_text(editor, DELETE)
        assert "Dry run of v3" in words(page)
        assert "Rows deleted 3" in words(page)
        assert "Files affected 2 of 3" in words(page)
        assert "p=a" in page
        assert "Delete 3 rows</button>" in page
        told = page_json(editor, DELETE)["job"]["result"]
        assert told["counts"] == {"num_rows": 3, "num_files": 2}
        assert told["num_copied_rows"] == 1
        assert told["columns"] == ["p", "id"]
        assert sorted(told["before"]) == [["a", "20"], ["a", "21"], ["b", "30"]]
        assert ids(folder) == [10, 11, 20, 21, 30, 31]
        assert not AuditEvent.objects.filter(action="table.delete_rows").exists()

    def test_does_what_was_shown(self, editor, work, folder, orders):
        editor.post(DELETE, {"where": "id > 11 AND id < 31"})
        editor.post(DELETE, {"seen": str(work().id)})
        done = work()

        assert done.state == Job.State.DONE, done.error
        assert ids(folder) == [10, 11, 31]
        assert DeltaTable(str(folder)).history(1)[0].operation == "DELETE"
        page = page_text(editor, DELETE)
        assert "3 rows deleted" in words(page)
        assert 'action="/t/default/orders/undo"' in page
        event = AuditEvent.objects.get(action="table.delete_rows")
        assert (event.actor, event.table_id) == ("eve", orders.id)
        assert event.detail["where"] == "id > 11 AND id < 31"
        assert event.detail["num_rows"] == 3
        assert action_words(event.action) == "deleted rows of a table"
        assert Job.objects.filter(kind="tables.index_log", subject_id=orders.id)

    def test_offers_what_changed_once_that_is_indexed(self, editor, work, orders):
        editor.post(DELETE, {"where": "id > 11 AND id < 31"})
        editor.post(DELETE, {"seen": str(work().id)})
        work()
        compare = 'href="/t/default/orders/compare/3...4?view=rows"'

        waiting = page_text(editor, DELETE)
        assert "Version 4 is being indexed; this page will show it shortly." in waiting
        assert compare not in waiting
        Job.objects.filter(kind="tables.index_log").update(state=Job.State.DONE)
        index_at(orders, 4)

        page = page_text(editor, DELETE)
        assert "is being indexed" not in page
        assert compare in page
        assert 'href="/t/default/orders/history/4"' in page
        assert 'action="/t/default/orders/undo"' in page
        assert 'value="3"' in page_text(editor, f"{RESTORE}?version=3")

    def test_offers_the_changes_that_were_recorded(self, editor, work, orders):
        orders.metadata_versions.update(
            configuration={"delta.enableChangeDataFeed": "true"}
        )
        editor.post(DELETE, {"where": "id > 11 AND id < 31"})
        editor.post(DELETE, {"seen": str(work().id)})
        work()
        index_at(orders, 4)

        page = page_text(editor, DELETE)

        assert 'href="/t/default/orders/changes?from=4&to=4"' in page

    def test_that_others_followed_says_what_an_undo_takes_back(
        self, editor: Client, work: Work, orders: Table
    ) -> None:
        editor.post(DELETE, {"where": "id > 11 AND id < 31"})
        editor.post(DELETE, {"seen": str(work().id)})
        work()
        index_at(orders, 4)
        index_at(orders, 6)

        page = page_text(editor, DELETE)

        assert "2 versions came after it; an undo keeps their effect." in page

    def test_brings_the_head_of_the_page_up_to_date(self, editor: Client, work: Work):
        editor.post(DELETE, {"where": "id > 11 AND id < 31"})
        look = Job.objects.get()
        assert f"/jobs/{look.id}/progress?then=" not in page_text(editor, DELETE)
        editor.post(DELETE, {"seen": str(work().id)})
        job = Job.objects.latest("created_at")

        page = page_text(editor, DELETE)
        assert f"/jobs/{job.id}/progress?then=reload" in page
        work()

        # The head waits for the index, asking every second or so, and follows it.
        assert "/t/default/orders/state?since=" in page_text(editor, DELETE)

    def test_is_indexed_once_more_where_an_index_was_at_work(
        self, editor: Client, work: Work, orders: Table
    ) -> None:
        before = refresh_table(orders, now=timezone.now())
        Job.objects.filter(id=before.id).update(state=Job.State.RUNNING)
        editor.post(DELETE, {"where": "id > 11 AND id < 31"})
        editor.post(DELETE, {"seen": str(work().id)})
        work()

        after = Job.objects.get(kind="tables.index_log", state=Job.State.QUEUED)
        assert after.subject_id == orders.id

    def test_shown_of_an_older_version_says_so(self, editor, work, orders):
        editor.post(DELETE, {"where": "id > 11 AND id < 31"})
        work()
        assert "Outdated" not in page_text(editor, DELETE)
        index_at(orders, 17)

        page = page_text(editor, DELETE)

        assert "the table is now at v17." in words(page)
        assert "Preview again at v17</button>" in page

    def test_of_every_row_has_to_be_said(self, editor, work, folder):
        answer = editor.post(DELETE, {"where": " "})
        assert answer.status_code == 422
        assert b"tick that every row is meant" in answer.content
        answer = editor.post(DELETE, {"where": "id = 1", "every": "on"})
        assert b"not both" in answer.content
        assert not Job.objects.exists()

        editor.post(DELETE, {"every": "on"})
        editor.post(DELETE, {"seen": str(work().id)})

        assert work().state == Job.State.DONE
        assert ids(folder) == []

    def test_of_no_row_has_nothing_to_do(self, editor: Client, work: Work) -> None:
        editor.post(DELETE, {"where": "id = 99"})
        work()

        page = page_text(editor, DELETE)
        assert "there is nothing to delete" in page
        assert "Delete 0" not in page

    def test_whose_rows_changed_since_is_shown_again(self, editor, work, folder):
        editor.post(DELETE, {"where": "id > 20"})
        look = work()
        DeltaTable(str(folder)).delete("id = 21")
        editor.post(DELETE, {"seen": str(look.id)})

        assert work().error_code == "operation-outdated"
        again = work()

        assert isinstance(again.result, dict)
        assert again.result["counts"]["num_rows"] == 2
        assert "Nothing was done." in page_text(editor, DELETE)
        assert ids(folder) == [10, 11, 20, 30, 31]


@pytest.mark.usefixtures("orders")
class TestUpdatingRows:
    def test_shows_values_before_and_after(self, editor: Client, work: Work) -> None:
        editor.post(UPDATE, {**ASSIGNED, "where": "p = 'b'"})
        job = work()

        assert job.state == Job.State.DONE, job.error
        page = page_text(editor, UPDATE)
        assert "<del> <span>30</span>" in page.replace("<del><span>", "<del> <span>")
        assert "130" in page
        assert "Update 2 rows</button>" in page
        assert 'value="id + 100"' in page
        told = page_json(editor, UPDATE)["job"]["result"]
        assert told["after"] == [["b", "130"], ["b", "131"]]

    def test_does_what_was_shown(self, editor: Client, work: Work, folder: Path):
        editor.post(UPDATE, {**ASSIGNED, "where": "id = 10"})
        editor.post(UPDATE, {"seen": str(work().id)})
        done = work()

        assert done.state == Job.State.DONE, done.error
        assert ids(folder) == [11, 20, 21, 30, 31, 110]
        assert "1 row updated" in words(page_text(editor, UPDATE))
        event = AuditEvent.objects.get(action="table.update_rows")
        assert event.detail["assignments"] == {"id": "id + 100"}

    @pytest.mark.parametrize(
        ("column", "value", "said"),
        [
            ([], [], "Give a column"),
            (["id"], [""], "Give the new value of id"),
            ([""], ["1"], "Say which column takes 1"),
            (["id", "ID"], ["1", "2"], "there twice"),
            (["nothing"], ["1"], "nothing"),
            (["id"], ["sha2(id)"], "sha2"),
            (["id"], ["'text'"], "id"),
        ],
    )
    def test_says_at_once_what_does_not_fit(self, editor, column, value, said):
        asked = {"column": column, "value": value, "where": "id = 1"}

        answer = editor.post(UPDATE, asked)

        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert not Job.objects.exists()


@pytest.mark.usefixtures("orders")
class TestWhatIsRefusedAtOnce:
    @BOTH
    @pytest.mark.parametrize("where", ["id >", "nothing = 1", "id", "rand() > 0"])
    def test_a_condition_that_is_none(self, editor: Client, page: str, where: str):
        answer = editor.post(page, {**ASSIGNED, "where": where})

        assert answer.status_code == 422
        assert not Job.objects.exists()

    @BOTH
    def test_a_table_that_only_grows(self, editor: Client, orders: Table, page: str):
        orders.metadata_versions.update(configuration={"delta.appendOnly": "true"})

        answer = editor.post(page, {**ASSIGNED, "where": "id = 1"})

        assert answer.status_code == 422
        assert b"is append-only" in answer.content
