"""Checkpoints and clean-ups are for editors and administrators."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.jobs.services import cancel
from apps.tables.models import Table
from deltaweb.delta.log.paths import checkpoint_name
from tests.support import cases
from tests.support.pages.factories import new_metadata, new_protocol, new_table
from tests.support.pages.operated import work_newest, worked
from tests.support.tables.weekly_table import log_names, page_text

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = pytest.mark.django_db
CHECKPOINT = "/t/default/orders/checkpoint"


class TestWhoMay:
    @pytest.mark.usefixtures("orders")
    def test_nobody_who_was_an_editor_runs_a_job_again(self, editor, folder):
        editor.post(f"{CHECKPOINT}.json", {"v": "8"})
        job = cancel(Job.objects.get(), now=timezone.now())
        User.objects.update(role=User.Role.VIEWER)

        assert editor.post(f"/jobs/{job.id}/retry").status_code == 403
        assert "Retry" not in page_text(editor, f"/jobs/{job.id}/")
        User.objects.update(role=User.Role.EDITOR)
        assert "Retry" in page_text(editor, f"/jobs/{job.id}/")
        assert editor.post(f"/jobs/{job.id}/retry").status_code == 302
        event = AuditEvent.objects.get(action="job.retry")
        assert (event.actor, event.detail["job"]) == ("eve", str(job.id))
        work_newest()
        assert checkpoint_name(8) in log_names(folder)

    def test_a_location_that_is_no_longer_allowed_is_not_written_to(
        self, editor: Client, orders: Table, folder: Path, settings: "Settings"
    ) -> None:
        editor.post(f"{CHECKPOINT}.json", {"v": "8"})
        settings.ALLOWED_ROOTS = ["/elsewhere"]
        before = log_names(folder)

        job = Job.objects.get(kind="tables.write_checkpoint", subject_id=orders.id)
        worked(job)

        assert (job.state, job.error_code) == (Job.State.FAILED, "location-not-allowed")
        assert log_names(folder) == before


LISTED = {"min_writer_version": 7}


@cases(
    "page, protocol, configuration, expected",
    {
        "a feature that checkpoints do not keep": (
            "checkpoint",
            {**LISTED, "writer_features": ["checkpointProtection"]},
            {},
            "checkpointProtection",
        ),
        "a writer version": ("checkpoint", {"min_writer_version": 9}, {}, "version 9"),
        "how long tombstones stay": (
            "checkpoint",
            {},
            {"delta.deletedFileRetentionDuration": "soon"},
            "delta.deletedFileRetentionDuration",
        ),
        "a writer feature that is not known": (
            "cleanup",
            {**LISTED, "writer_features": ["tableTeleport"]},
            {},
            "tableTeleport",
        ),
        "a retention without a length": (
            "cleanup",
            {},
            {"delta.logRetentionDuration": "3 months"},
            "delta.logRetentionDuration",
        ),
    },
)
def test_what_is_refused_is_refused_at_once(
    editor, page, protocol, configuration, expected
):
    table = new_table("orders")
    new_protocol(table, **protocol)
    new_metadata(table, configuration=configuration)

    answer = editor.post(f"/t/default/orders/{page}")

    assert answer.status_code == 422
    assert expected in answer.content.decode()
    assert not Job.objects.exists()
