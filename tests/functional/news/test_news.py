"""Where pages wait for news: what they hear, who may, and what ends it."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone

from apps.accounts import services as accounts
from apps.accounts.lifetimes.sessions import BEGAN_AT, session_age
from apps.accounts.lifetimes.suspension import key_life
from apps.accounts.models import User
from apps.jobs import services
from apps.jobs.listing.revisions import (
    end_revision,
    job_revision,
    jobs_revision,
)
from apps.jobs.models import Job
from apps.jobs.running.tracking import track_job
from apps.news import hub as hubs
from apps.news.hub import MAX_A_PERSON
from apps.news.views import HOLDS, NewsEvents
from apps.pages.actions import command_stamp
from apps.tables.models import Table
from apps.tables.models.news import (
    table_revision,
    tables_revision,
    tell_changed,
)
from tests.support.pages.factories import (
    new_api_key,
    new_job,
    new_table,
    new_unindexed_table,
    new_user,
)
from tests.support.processes.installation import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


def listen(client: Client, *topics: str, holds: bool = True) -> HttpResponseBase:
    """Ask as a page does, of a server that holds connections."""
    return client.get("/news", {"on": list(topics)}, **{HOLDS: holds})  # type: ignore[arg-type]  # a part of the environment


def events_of(answer: HttpResponseBase) -> NewsEvents:
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/event-stream"
    assert answer["X-Accel-Buffering"] == "no"
    assert "no-store" in answer["Cache-Control"]
    events: Any = answer
    found: NewsEvents = events.events
    return found


def hears(events: NewsEvents, text: str) -> bool:
    """Wait until a stream has said something."""
    said: list[str] = []

    def is_said() -> bool:
        said.append(events.take().decode())
        return text in "".join(said)

    return wait_for(is_said)


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins with nobody who waits."""
    monkeypatch.setattr(hubs, "_hubs", {})


class TestAPageThatWaits:
    def test_hears_that_its_job_begins_and_ends(self, editor: Client) -> None:
        job = new_job()
        job_topic, end_topic = f"job:{job.id}", f"job-end:{job.id}"
        events = events_of(
            listen(editor, f"{job_topic}@{job_revision(job)}", f"{end_topic}@0")
        )
        assert events.take() == b": listening\n\n"

        with track_job(job.id) as tracked:
            assert tracked is not None
            assert hears(events, job_topic)

        assert hears(events, end_topic)

    def test_hears_at_once_what_happened_since_it_was_shown(self, editor: Client):
        job = new_job()
        shown = f"job:{job.id}@{job_revision(job)}", f"job-end:{job.id}@0"
        Job.objects.update(state=Job.State.DONE)

        said = events_of(listen(editor, *shown)).take().decode()

        assert f"data: job:{job.id} job-end:{job.id}\n\n" in said

    def test_hears_nothing_of_what_it_shows_already(self, editor: Client) -> None:
        job, table = new_job(), new_table()
        eve = User.objects.get(username="eve")
        topics = (
            f"job:{job.id}@{job_revision(job)}",
            f"job-end:{job.id}@{end_revision(job)}",
            f"jobs@{jobs_revision(eve)}",
            f"table:{table.id}@{table_revision(table)}",
            f"tables@{tables_revision(eve)}",
        )

        assert events_of(listen(editor, *topics)).take() == b": listening\n\n"

    def test_hears_of_tables_that_are_indexed(self, editor: Client) -> None:
        table = new_unindexed_table()
        topic = f"table:{table.id}"
        events = events_of(listen(editor, f"{topic}@{table_revision(table)}"))

        tell_changed(table)

        assert hears(events, topic)

    def test_hears_of_jobs_that_others_ask_for_and_cancel(self, editor: Client) -> None:
        eve = User.objects.get(username="eve")
        events = events_of(listen(editor, f"jobs@{jobs_revision(eve)}"))

        job = services.enqueue(kind="test.nap", title="Nap", now=timezone.now())
        assert hears(events, "jobs")
        end = events_of(listen(editor, f"job-end:{job.id}@0"))
        services.cancel(job, now=timezone.now())

        assert hears(end, f"job-end:{job.id}")


class TestAPageThatMayNot:
    @pytest.mark.parametrize(
        "topic", ["job:{hidden}", "job-end:{hidden}", "table:{table}", "job:1", "other"]
    )
    def test_hear_of_something_is_told_so(self, viewer: Client, topic: str) -> None:
        hidden = new_job(subject_id=uuid4())
        table = new_table("secret", is_private=True)
        named = topic.format(hidden=hidden.id, table=table.id)

        assert listen(viewer, f"{named}@0").status_code == 404

    def test_wait_at_all_asks_by_itself(self, editor: Client) -> None:
        topic = f"job:{new_job().id}@0"
        assert listen(editor, topic, holds=False).status_code == 204
        assert listen(editor).status_code == 204
        assert listen(Client(), topic).status_code == 302
        by_key = Client(headers=new_api_key(User.objects.get(username="eve")))
        assert listen(by_key, topic).status_code == 204  # no session that ends it

        for _ in range(MAX_A_PERSON):
            assert listen(editor, topic).status_code == 200
        assert listen(editor, topic).status_code == 204


class TestAStreamEnds:
    def test_with_its_session(self, editor: Client) -> None:
        topic = f"job:{new_job().id}@0"
        events = events_of(listen(editor, topic))

        editor.post("/sign-out/")

        assert hears(events, "event: end")
        assert events.is_over

    @pytest.mark.parametrize("way", ["password", "link"])
    def test_with_its_session_when_somebody_signs_in_anew(self, editor, way):
        eve = User.objects.get(username="eve")
        by: Any = {"user": eve, "stamp": command_stamp()}
        if way == "password":
            accounts.change_password(password="a long password", **by)
            editor.force_login(eve)
        events = events_of(listen(editor, f"job:{new_job().id}@0"))

        if way == "password":
            form = {"name": "eve", "password": "a long password"}
            assert editor.post("/sign-in/", form).status_code == 302
        else:
            link = accounts.issue_sign_in_link(**by)
            assert editor.post(link).status_code == 302

        assert hears(events, "event: end")

    def test_where_its_session_ends_while_it_is_asked_for(self, editor, monkeypatch):
        topic = f"job:{new_job().id}@0"

        def sign_out_meanwhile(_: object) -> bool:
            editor.post("/sign-out/")
            return True

        monkeypatch.setattr(hubs.Hub, "is_live", sign_out_meanwhile)

        assert listen(editor, topic).status_code == 204
        assert not hubs.hub().is_awaited

    def test_where_its_channel_was_cut_while_it_is_asked_for(self, editor, monkeypatch):
        """It is there again by now; what was told between is heard by nobody."""
        topic = f"job:{new_job().id}@0"

        def cut_and_found_again(hub: hubs.Hub) -> bool:
            vars(hubs.Hub)["_end_all"](hub)
            return True

        monkeypatch.setattr(hubs.Hub, "is_live", cut_and_found_again)

        assert hears(events_of(listen(editor, topic)), "event: end")

    @pytest.mark.parametrize("change", ["disable", "role", "password"])
    def test_with_the_rights_of_its_user(self, editor: Client, change: str) -> None:
        eve = User.objects.get(username="eve")
        events = events_of(listen(editor, f"job:{new_job().id}@0"))

        by: Any = {"user": eve, "stamp": command_stamp()}
        if change == "disable":
            accounts.disable_user(**by)
        elif change == "role":
            accounts.set_role(role="viewer", **by)
        else:
            accounts.change_password(password="a long password", **by)

        assert hears(events, "event: end")

    def test_and_nobody_is_told_for_it(self, editor: Client) -> None:
        job = new_job()
        events = events_of(listen(editor, f"job-end:{job.id}@0"))
        events.close()
        Table.objects.all().delete()

        services.cancel(job, now=timezone.now())

        assert not hubs.hub().is_awaited


def test_ends_with_the_age_of_the_session(client: Client) -> None:
    table = new_table()
    client.force_login(new_user("ann"))
    session = client.session
    session[BEGAN_AT] -= session_age().total_seconds() - 1
    session.save()
    events = events_of(listen(client, f"table:{table.id}@"))
    events.take()
    assert wait_for(lambda: bool(events.pulse()) and events.has_news)
    assert "event: end" in events.take().decode()
    assert events.is_over


def test_ends_as_its_user_is_suspended(client: Client) -> None:
    table = new_table()
    user = new_user("ann")
    User.objects.update(signed_on_at=timezone.now() - key_life() + timedelta(seconds=1))
    client.force_login(User.objects.get(id=user.id))
    events = events_of(listen(client, f"table:{table.id}@"))
    events.take()
    assert wait_for(lambda: bool(events.pulse()) and events.has_news)
    assert "event: end" in events.take().decode()
