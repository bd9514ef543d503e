"""`table refresh --wait` ends with its job."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from apps.jobs.models import Job
from tests.functional.table_command.commands import refusal, run
from tests.support import cases
from tests.support.pages.factories import new_table

pytestmark = pytest.mark.django_db


class TestRefreshAndWait:
    """The worker's part is done while the command sleeps."""

    def worker_leaves(self, monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
        def sleep(_: float) -> None:
            Job.objects.update(**fields)

        monkeypatch.setattr("time.sleep", sleep)

    def test_says_which_version_is_indexed(self, monkeypatch: pytest.MonkeyPatch):
        new_table("orders")
        self.worker_leaves(monkeypatch, state=Job.State.DONE)

        assert "version 2" in run("refresh", "orders", "--wait")

    @cases(
        "fields, sentence",
        {
            "failed": (
                {"state": Job.State.FAILED, "error": "Commit 5 is missing."},
                "Commit 5 is missing.",
            ),
            "cancelled": ({"state": Job.State.CANCELLED}, "was cancelled"),
        },
    )
    def test_a_job_without_a_result_is_exit_1(self, monkeypatch, fields, sentence):
        new_table("orders")
        self.worker_leaves(monkeypatch, **fields)

        assert sentence in refusal("refresh", "orders", "--wait")

    def test_the_json_of_a_failed_job_has_its_code(self, monkeypatch):
        new_table("orders")
        self.worker_leaves(
            monkeypatch,
            state=Job.State.FAILED,
            error="Commit 5 is missing.",
            error_code="log-gap",
            error_hint="Restore it.",
        )
        out = io.StringIO()

        with pytest.raises(CommandError):
            call_command("table", "refresh", "orders", "--wait", "--json", stdout=out)

        assert json.loads(out.getvalue()) == {
            "error": "log-gap",
            "message": "Commit 5 is missing.",
            "hint": "Restore it.",
        }

    def test_does_not_wait_for_a_worker_that_is_not_there(self, monkeypatch):
        new_table("orders")
        monkeypatch.setattr(
            "apps.tables.management.verbs.catalog.NO_WORKER_AFTER_S", -1.0
        )

        assert "no worker takes it" in refusal("refresh", "orders", "--wait")
