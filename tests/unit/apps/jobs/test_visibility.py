"""Who sees which jobs."""

import pytest

from apps.accounts.models import User
from apps.jobs.visibility import may_retry, visible_jobs
from tests.support.pages.factories import (
    new_grant_of_right,
    new_job,
    new_table,
    new_user,
)

FOR_ADMINS = "sharing.examine_recipient"
FOR_EDITORS = "tables.scan_root"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "seen"),
    [
        (User.Role.ADMIN, {FOR_ADMINS, FOR_EDITORS}),
        (User.Role.EDITOR, {FOR_EDITORS}),
        (User.Role.VIEWER, {FOR_EDITORS}),
    ],
)
def test_jobs_about_recipients_are_seen_by_administrators_alone(role, seen):
    user = new_user("she", role=role)
    jobs = [new_job(kind=kind, requested_by=user) for kind in (FOR_ADMINS, FOR_EDITORS)]

    assert {job.kind for job in visible_jobs(user)} == seen
    assert all(may_retry(user, job) == user.is_editor for job in jobs)


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "seen"), [("EDITOR", 0), ("VIEWER", 0), ("ADMIN", 1)])
def test_a_job_about_a_private_table_is_not_there_for_its_own_asker(role, seen):
    user, table = new_user("she", role=role), new_table(is_private=True)
    new_job(kind="tables.index_log", requested_by=user, subject_id=table.id)

    assert visible_jobs(user).count() == seen
    new_grant_of_right("view", table, user)
    assert visible_jobs(user).count() == 1
