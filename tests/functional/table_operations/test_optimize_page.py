"""The page that packs small files: which and into how many, then the commit."""

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import SCHEMA, Work
from tests.support import cases
from tests.support.tables.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
OPTIMIZE = "/t/default/orders/optimize"


def look(editor: Client, work: Work, **asked: object) -> Job:
    """The job that has found out what would be packed."""
    assert editor.post(OPTIMIZE, asked).status_code == 302
    return work()


@pytest.mark.usefixtures("orders")
class TestAnOptimization:
    def test_shows_first_what_becomes_of_which_partition(self, editor, work, folder):
        job = look(editor, work)

        assert job.state == Job.State.DONE, job.error
        page = page_text(editor, OPTIMIZE)
        assert "2 files become about 1" in page
        assert "p=<bdi>a</bdi>" in page
        assert "p=<bdi>b</bdi>" not in page
        assert "Pack 2 files into about 1</button>" in page
        told = page_json(editor, OPTIMIZE)["job"]["result"]
        assert (told["counts"]["num_files"], told["num_after"]) == (2, 1)
        assert DeltaTable(str(folder)).latest_version() == 3

    def test_does_what_was_shown_whatever_came_after(self, editor, work, folder):
        job = look(editor, work)
        rows = SCHEMA.empty_table().from_pylist([{"p": "a", "id": 7}], SCHEMA)
        DeltaTable(str(folder)).append(rows)

        editor.post(OPTIMIZE, {"seen": str(job.id)})
        done = work()

        assert done.state == Job.State.DONE, done.error
        snapshot = DeltaTable(str(folder)).snapshot()
        assert (snapshot.version, snapshot.num_files) == (5, 3)
        assert snapshot.read().num_rows == 7
        page = page_text(editor, OPTIMIZE)
        assert "1 file added, 2 files removed" in page
        assert 'action="/t/default/orders/undo"' in page
        detail = AuditEvent.objects.get(action="table.optimize").detail
        assert detail["num_files"] == 2

    def test_of_some_partitions_and_columns(self, editor, work, folder):
        job = look(editor, work, where="p = 'b'", cluster_by="id", target_mib=4)

        page = page_text(editor, OPTIMIZE)
        assert "in the order of <code>id</code>" in page
        assert "value=\"p = 'b'\"" in page
        assert isinstance(job.result, dict)
        assert job.result["target_bytes"] == 4 << 20
        editor.post(OPTIMIZE, {"seen": str(job.id)})
        assert work().state == Job.State.DONE
        info = DeltaTable(str(folder)).read_commit(4)[0]["commitInfo"]
        assert info["operationParameters"]["zOrderBy"] == '["id"]'

    def test_without_small_files_has_nothing_to_do(self, editor: Client, work: Work):
        look(editor, work, where="p = 'b'")

        page = page_text(editor, OPTIMIZE)
        assert "Nothing to compact" in page
        assert 'name="seen"' not in page

    @cases(
        "asked, expected",
        {
            "rows": ({"where": "id = 10"}, "whole partitions"),
            "a column that is none": ({"cluster_by": "nope"}, "nope"),
            "no condition": ({"where": "p = "}, "p ="),
        },
    )
    def test_that_cannot_be_says_why(self, editor, work, asked, expected):
        job = look(editor, work, **asked)

        assert job.state == Job.State.FAILED
        page = page_text(editor, OPTIMIZE)
        assert "The table was not optimized" in page
        assert expected in page
        assert job.error_hint in page

    def test_of_a_size_that_is_none_is_said_at_the_field(self, editor: Client) -> None:
        answer = editor.post(OPTIMIZE, {"target_mib": "much"})

        assert answer.status_code == 422
        assert b"aria-invalid" in answer.content
