"""What notices add: failed jobs are events, and jobs can be followed."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from typing import Final
from uuid import UUID

from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.services import mailing
from apps.jobs import kinds
from apps.jobs.models import Job
from apps.jobs.running import failures
from apps.jobs.visibility import viewers_of_jobs, visible_jobs
from apps.news.topics import Topic, topics
from apps.notices.errors import SubjectUnknownError
from apps.notices.events.kind import EventSubject
from apps.notices.events.visibility import SubjectsOfEvents, subjects_of_events
from apps.notices.following.concerned import Concerned, concerned
from apps.notices.following.subjects import (
    BELL,
    FollowedSubjects,
    register,
)
from apps.notices.models import Event, Webhook
from apps.notices.sending import pauses
from apps.operate import loading
from apps.pages import frame
from apps.pages.changes.change import changes

MAILS: Final = "apps.notices.sending.mails"


def visible_ids(user: User, ids: Collection[str]) -> Collection[str]:
    """Return those of some ids whose jobs a user may see."""
    found = visible_jobs(user).filter(id__in=ids).values_list("id", flat=True)
    return [str(one) for one in found]


def report_failure(job: Job, now: datetime) -> None:
    """Report a failed job; the module is loaded by the first one."""
    failed_jobs = import_module("apps.notices.failed_jobs")
    failed_jobs.report_failure(job, now)


loading.modules.register("apps.notices.sending.revived")
failures.followers.register(report_failure)
subjects_of_events.register(
    SubjectsOfEvents(kind="job", visible_ids=visible_ids, viewers=viewers_of_jobs)
)


def visible_webhooks(user: User, ids: Collection[str]) -> Collection[str]:
    """Return those of some ids that are of webhooks of a user."""
    found = user.webhooks.filter(id__in=ids).values_list("id", flat=True)
    return [str(one) for one in found]


def owners_of_webhooks(
    events: Sequence[Event], _: datetime
) -> Mapping[int, Collection[int]]:
    """Return the owners of the webhooks that events are about."""
    owners = Webhook.objects.filter(id__in=[one.subject_id for one in events])
    by_id = {str(pk): user_id for pk, user_id in owners.values_list("id", "user")}
    return {
        one.id: {by_id[one.subject_id]} for one in events if one.subject_id in by_id
    }


subjects_of_events.register(
    SubjectsOfEvents(
        kind="webhook",
        visible_ids=visible_webhooks,
        url=lambda key: f"{reverse('notices:webhooks')}#hook-{key}",
    )
)
concerned.register(Concerned(kinds=("webhook.paused",), people=owners_of_webhooks))


def report_pause(webhook: Webhook, reason: str, now: datetime) -> None:
    """Report a paused webhook; the module is loaded by the first one."""
    paused_webhooks = import_module("apps.notices.paused_webhooks")
    paused_webhooks.report_pause(webhook, reason, now)


pauses.followers.register(report_pause)


def found_job(user: User, name: str) -> EventSubject:
    """Return a job that a user may see, as a subject, by its id.

    Raises:
        SubjectUnknownError: If there is none.
    """
    with suppress(ValueError):
        job = visible_jobs(user).filter(id=UUID(name)).first()
        if job is not None:
            return EventSubject("job", str(job.id), job.title)
    raise SubjectUnknownError(kind="job", name=name)


def named_jobs(ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the titles and pages of jobs."""
    jobs = Job.objects.filter(id__in=ids).only("title")
    return {
        str(one.id): (one.title, reverse("jobs:job-detail", args=[one.id]))
        for one in jobs
    }


register(
    FollowedSubjects(
        kind="job",
        words="job",
        icon="list-check",
        hears=("job",),
        find=found_job,
        named=named_jobs,
    )
)


def bell_revision(user: User, key: str) -> str | None:
    """Return the number of new notifications of a user; None for another user."""
    return str(user.num_new) if str(user.pk) == key else None


topics.register(Topic(word=BELL, revision=bell_revision, pace_s=1.0))


def queue_account_mail(asked: mailing.MailAsked) -> None:
    """Queue a mail about an account; the module is loaded by the first one."""
    import_module(MAILS).queue_account_mail(asked)


mailing.queues.register(queue_account_mail)
kinds.load_from(MAILS)

for noun in ("follow", "webhook"):
    changes.load_from(
        noun, "apps.notices.changes.follows", "apps.notices.changes.webhooks"
    )
frame.explain("notices", {"how-to/get-notifications/": "received following webhooks"})
