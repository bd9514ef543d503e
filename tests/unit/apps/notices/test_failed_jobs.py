"""A failed job is an event, unless a person sees the failure, or knows it already."""

from datetime import timedelta

import pytest

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.running.tracking import track_job
from apps.jobs.sweep import sweep
from apps.notices.events.visibility import visible_events
from apps.notices.models import Event
from deltaweb.delta.errors import VersionNotFoundError
from tests.support.pages.factories import NOW, new_job, new_table, new_user
from tests.support.pages.reported import reported, sentences

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def fail(job: Job, error: Exception) -> None:
    with track_job(job.id):
        raise error


def broken(root: str = "/srv/lake/orders") -> Exception:
    return VersionNotFoundError(root=root, version=3, earliest=0, latest=2)


def test_a_failure_is_reported_with_its_error() -> None:
    table = new_table("orders", location="/srv/lake/orders")
    job = new_job(subject_id=table.id, title="Do nothing with orders")

    fail(job, broken())

    (found,) = reported("job.failed")
    assert found["job"] == str(job.id)
    assert found["table"] == "orders"
    assert found["error_code"] == "version-not-found"
    assert "/srv/lake" not in str(found)
    assert sentences()[0].startswith("“Do nothing with orders” failed: ")


def test_a_job_that_ends_well_is_no_event() -> None:
    with track_job(new_job().id):
        pass

    assert reported() == []


def test_the_same_failure_is_reported_once_until_the_work_succeeds() -> None:
    table = new_table()
    fail(new_job(subject_id=table.id), broken())
    fail(new_job(subject_id=table.id), broken())
    assert len(reported()) == 1

    with track_job(new_job(subject_id=table.id).id):
        pass
    fail(new_job(subject_id=table.id), broken())
    assert len(reported()) == 2


def test_another_failure_of_the_same_work_is_reported() -> None:
    table = new_table()
    fail(new_job(subject_id=table.id), broken())
    fail(new_job(subject_id=table.id), ValueError("no"))

    found = [one["error_code"] for one in reported()]
    assert found == ["version-not-found", "internal-error"]


def test_a_look_that_fails_is_no_event() -> None:
    fail(new_job(kind="tables.preview_rows"), broken())

    assert reported() == []


def test_a_job_that_kills_its_workers_is_reported() -> None:
    new_job(
        state=Job.State.RUNNING,
        attempts=Job.MAX_ATTEMPTS,
        lease_owner="gone#1",
        lease_expires_at=NOW,
        started_at=NOW,
    )

    sweep(now=NOW + timedelta(minutes=2))

    assert [one["error_code"] for one in reported()] == ["worker-lost"]


def test_who_may_see_the_job_sees_the_event() -> None:
    viewer, editor = new_user(), new_user("ed", role=User.Role.EDITOR)
    fail(new_job(subject_id=new_table("open").id), broken())
    fail(new_job(subject_id=new_table("secret", is_private=True).id), broken())
    seen, hidden = Event.objects.order_by("id")

    assert visible_events(viewer, [seen, hidden]) == [seen]
    assert visible_events(editor, [seen, hidden]) == [seen]
    admin = new_user("ada", role=User.Role.ADMIN)
    assert visible_events(admin, [seen, hidden]) == [seen, hidden]
