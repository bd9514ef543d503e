"""What recipients are to be told, by REST."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.jobs.kinds import do_job
from apps.jobs.models import Job
from apps.sharing.models import ToldReminder
from tests.support.pages.factories import new_recipient, new_token
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db
REMINDERS = f"{V1}/reminders"


@pytest.fixture
def script() -> Script:
    soon = timezone.now() + timedelta(days=1)
    new_token(new_recipient("acme", contact="data@acme.example"), expires_at=soon)
    return Script()


def test_they_are_listed_and_sent_once(script, settings, mailoutbox) -> None:
    settings.EMAIL_HOST = "localhost"
    (told,) = script.call("GET", REMINDERS).json()["reminders"]

    for _ in range(2):
        answer = script.call("POST", REMINDERS)
        job = Job.objects.get(id=answer.json()["job"]["id"])
        do_job(job.kind, str(job.id))

    assert (told["recipient"], told["contact"]) == ("acme", "data@acme.example")
    assert answer.status_code == 202
    assert [mail.body for mail in mailoutbox] == [told["text"]]
    assert ToldReminder.objects.count() == 1


def test_nothing_is_sent_where_there_is_no_way(script: Script) -> None:
    answer = script.call("POST", REMINDERS)

    assert refusal(answer) == (409, "no-way-to-tell")
    assert not Job.objects.exists()
