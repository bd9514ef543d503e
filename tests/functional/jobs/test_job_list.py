"""The list of jobs: its forms, its filter, its places in the queue, and the chip."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.db.models import Q
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.jobs import visibility
from apps.jobs.models import Job
from apps.pages.registry import Registry
from tests.functional.jobs.jobs_at_work import HIDDEN, SEEN, failed, running
from tests.support import cases
from tests.support.pages.factories import NOW, new_job

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HTMX = {"HX-Request": "true"}


class TestTheList:
    def test_has_three_forms(self, editor: Client) -> None:
        job = running()

        page = editor.get("/jobs/").content.decode()
        data = editor.get("/jobs.json").json()
        answer = b"".join(editor.get("/jobs.csv").streaming_content)  # type: ignore[attr-defined]  # a streamed answer

        assert "Replaying the log: 212 of 413 commits" in page
        assert data["count"] == 1
        assert data["jobs"][0]["id"] == str(job.id)
        assert data["jobs"][0]["progress_done"] == 212
        assert str(job.id) in answer.decode()

    def test_polls_while_a_job_is_active_and_no_longer(self, editor: Client) -> None:
        job = running()
        assert "hx-trigger" in editor.get("/jobs/", headers=HTMX).content.decode()

        Job.objects.filter(id=job.id).update(state=Job.State.DONE)
        rows = editor.get("/jobs/", headers=HTMX).content.decode()

        assert "hx-trigger" not in rows
        assert "<html" not in rows

    def test_says_who_asked_and_when_it_ended(self, editor: Client) -> None:
        eve = User.objects.get(username="eve")
        failed(requested_by=eve)
        running()

        rows = editor.get("/jobs/", headers=HTMX).content.decode()
        data = editor.get("/jobs.json?sort=by").json()["jobs"]

        assert "<bdi>eve</bdi>" in rows
        assert "not yet" in rows
        assert re.search(r"just now.*took", rows, re.DOTALL)
        assert [job["requested_by"] for job in data] == ["eve", None]

    def test_a_failure_can_be_tried_again_from_its_row(self, editor: Client) -> None:
        job = failed()

        rows = editor.get("/jobs/", headers=HTMX).content.decode()
        answer = editor.post(f"/jobs/{job.id}/retry")

        assert f'action="/jobs/{job.id}/retry"' in rows
        assert answer.status_code == 302
        assert Job.objects.filter(state=Job.State.QUEUED).count() == 1

    @cases(
        "sort, expected",
        {
            "the newest first": ("", "cba"),
            "the oldest first": ("asked", "abc"),
            "by title": ("job", "abc"),
            "by title, turned": ("-job", "cba"),
            "what ended last first, unended last": ("-finished", "bac"),
            "what ended first first": ("finished", "abc"),
        },
    )
    def test_headers_sort_the_page_and_its_machine_forms_both_ways(
        self, editor: Client, sort: str, expected: str
    ) -> None:
        for number, title in enumerate("abc"):
            ended_at = None if title == "c" else NOW + timedelta(hours=number)
            at = NOW + timedelta(minutes=number)
            new_job(title=title, created_at=at, finished_at=ended_at, state="DONE")

        page = editor.get("/jobs/", {"sort": sort}, follow=True).content.decode()
        data = editor.get("/jobs.json", {"sort": sort}).json()["jobs"]
        answer = b"".join(editor.get("/jobs.csv", {"sort": sort}).streaming_content)  # type: ignore[attr-defined]  # a streamed answer

        rows = list(csv.DictReader(io.StringIO(answer.decode())))
        assert page.count("aria-sort=") == 1
        assert re.findall(r'title="test.nothing">(\w)</a>', page) == list(expected)
        assert [job["title"] for job in data] == list(expected)
        assert [row["title"] for row in rows] == list(expected)

    def test_finds_jobs_by_their_title_and_by_their_table(self, editor, monkeypatch):
        monkeypatch.setattr(visibility, "subjects_of_jobs", Registry())
        visibility.subjects_of_jobs.register(
            visibility.Subjects(
                seen_by=lambda _: Q(subject_id=SEEN),
                links=lambda _: {},
                named=lambda text: [SEEN] if text in "sales.orders" else [],
            )
        )
        new_job(title="Index the table by its old name", subject_id=SEEN)
        new_job(title="Scan /lake/orders")
        new_job(title="Index web.visits", subject_id=HIDDEN)

        found = editor.get("/jobs.json?q=orders").json()["jobs"]

        assert {job["title"] for job in found} == {
            "Index the table by its old name",
            "Scan /lake/orders",
        }

    @pytest.mark.parametrize("kind", ["tables.index_log", "index a table"])
    @pytest.mark.parametrize("state", ["FAILED", "failed"])
    def test_filters_by_the_words_of_the_page(self, editor, kind, state):
        job = failed(kind="tables.index_log")
        new_job(kind="tables.index_log")
        failed()

        found = editor.get("/jobs.json", {"state": state, "kind": kind}).json()["jobs"]

        assert [one["id"] for one in found] == [str(job.id)]

    @cases(
        "query, expected",
        {
            "active": ("state=ACTIVE", {"RUNNING", "QUEUED"}),
            "one state": ("state=FAILED", {"FAILED"}),
            "one kind": ("kind=other", {"DONE"}),
        },
    )
    def test_filters(self, editor: Client, query: str, expected: set[str]) -> None:
        running()
        failed()
        new_job()
        new_job(kind="other", state=Job.State.DONE)

        jobs = editor.get(f"/jobs.json?{query}").json()["jobs"]

        assert {job["state"] for job in jobs} == expected

    def test_says_the_places_in_the_queue(self, editor: Client) -> None:
        moments = [timezone.now() - timedelta(minutes=minutes) for minutes in (3, 2, 1)]
        waiting = [new_job(created_at=moment) for moment in moments]

        page = editor.get("/jobs/").content.decode()
        listed = editor.get("/jobs.json").json()["jobs"]

        assert "Next in the queue" in page
        assert "Number 3 in the queue" in page
        assert {job["id"]: job["queue_position"] for job in listed} == {
            str(job.id): place for place, job in enumerate(waiting, start=1)
        }

    def test_asks_the_database_a_few_times_however_long_it_is(
        self, editor: Client, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        for _ in range(60):
            new_job()

        with django_assert_max_num_queries(15):
            editor.get("/jobs/")


class TestTheChip:
    def test_counts_what_is_active(self, editor: Client) -> None:
        running()
        new_job()

        page = editor.get("/jobs/").content.decode()

        assert 'aria-label="2 jobs active, 51 %"' in page
        assert "2 jobs, 51 %" in editor.get("/jobs/chip").content.decode()

    def test_is_not_there_when_nothing_runs(self, editor: Client) -> None:
        assert "dw-jobchip" not in editor.get("/jobs/chip").content.decode()


class TestWhatAViewerSees:
    def test_jobs_of_visible_subjects_and_their_own(self, viewer: Client) -> None:
        vera = User.objects.get(username="vera")
        visible = running(subject_id=SEEN)
        own = running(requested_by=vera)
        hidden = [
            running(subject_id=HIDDEN, title="Index secret.table"),
            running(title="of nobody"),
            running(subject_id=HIDDEN, requested_by=vera, title="restricted since"),
        ]

        data = viewer.get("/jobs.json").json()
        page = viewer.get("/jobs/").content.decode()

        assert {job["id"] for job in data["jobs"]} == {str(visible.id), str(own.id)}
        assert "2 jobs" in page
        for job in hidden:
            assert job.title not in page
            for suffix in ("/", ".json", "/progress"):
                assert viewer.get(f"/jobs/{job.id}{suffix}").status_code == 404
            assert viewer.post(f"/jobs/{job.id}/cancel").status_code == 404
