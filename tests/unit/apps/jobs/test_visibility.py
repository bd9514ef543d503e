"""Who sees which jobs."""

import pytest

from apps.accounts.models import User
from apps.jobs.kinds import names_of_own
from apps.jobs.models import Job
from apps.jobs.visibility import may_retry, viewers_of_jobs, visible_jobs
from tests.support.pages.factories import (
    new_grant_of_right,
    new_job,
    new_table,
    new_user,
)

FOR_ADMINS = "sharing.examine_recipient"
FOR_EDITORS = "tables.scan_root"


def seen_by(user: User) -> list[Job]:
    """The jobs that a user sees, as the rules for one and for many users have it."""
    found = list(visible_jobs(user))
    every = [str(one) for one in Job.objects.values_list("id", flat=True)]
    viewers = viewers_of_jobs([user], every)
    assert {one for one in every if user.pk in viewers[one]} == {
        str(job.id) for job in found
    }
    return found


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

    assert {job.kind for job in seen_by(user)} == seen
    assert all(may_retry(user, job) == user.is_editor for job in jobs)


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "seen"), [("EDITOR", 0), ("VIEWER", 0), ("ADMIN", 1)])
def test_a_job_about_a_private_table_is_not_there_for_its_own_asker(role, seen):
    user, table = new_user("she", role=role), new_table(is_private=True)
    new_job(kind="tables.index_log", requested_by=user, subject_id=table.id)

    assert len(seen_by(user)) == seen
    new_grant_of_right("view", table, user)
    assert len(seen_by(user)) == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "seen"), [("VIEWER", 1), ("EDITOR", 2), ("ADMIN", 3)])
def test_jobs_of_others_without_a_subject_are_for_editors_unless_they_look(role, seen):
    user, other = new_user("she", role=role), new_user("he", role="EDITOR")
    new_job(kind=FOR_EDITORS, requested_by=user)
    new_job(kind=FOR_EDITORS, requested_by=other)
    new_job(kind=names_of_own()[0], requested_by=other)

    assert len(seen_by(user)) == seen
