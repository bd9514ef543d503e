"""Jobs in the browser: progress, cancel, retry, who sees what, and no worker."""

import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.jobs import visibility
from apps.jobs.models import Job, Worker
from apps.jobs.selectors import is_attended
from tests.factories import new_job, new_user

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
SEEN, HIDDEN = uuid.uuid4(), uuid.uuid4()


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(new_user("eve", role=User.Role.EDITOR))
    return client


@pytest.fixture
def viewer() -> Client:
    client = Client()
    client.force_login(new_user("vera"))
    return client


@pytest.fixture(autouse=True)
def subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two subjects, of which viewers see one."""
    link = visibility.SubjectLink("default.orders", "/t/default/orders/")
    monkeypatch.setattr(visibility, "_registered", [])
    visibility.register(
        visibility.Subjects(
            visible_ids=lambda _: [SEEN],
            links=lambda ids: {SEEN: link} if SEEN in ids else {},
        )
    )


def new_worker(name: str = "w", *queues: str, seconds_ago: int = 0) -> Worker:
    seen_at = timezone.now() - timedelta(seconds=seconds_ago)
    return Worker.objects.create(
        name=name, queues=list(queues), started_at=seen_at, seen_at=seen_at
    )


def running(**fields: object) -> Job:
    defaults = {
        "state": Job.State.RUNNING,
        "created_at": timezone.now(),
        "started_at": timezone.now(),
        "step": "Replaying the log",
        "progress_done": 212,
        "progress_total": 413,
        "progress_unit": "commits",
        "lease_owner": "w#1",
        "lease_expires_at": timezone.now() + timedelta(seconds=60),
    }
    return new_job(**(defaults | fields))


def failed(**fields: object) -> Job:
    defaults = {
        "state": Job.State.FAILED,
        "step": "Listing the log",
        "error_code": "log-gap",
        "error": "Version 7 is missing.",
        "error_hint": "Restore it.",
        "error_detail": "Traceback: <secret>",
        "started_at": timezone.now(),
        "finished_at": timezone.now(),
    }
    return new_job(**(defaults | fields))


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

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            pytest.param("state=ACTIVE", {"RUNNING", "QUEUED"}, id="active"),
            pytest.param("state=FAILED", {"FAILED"}, id="one state"),
            pytest.param("kind=other", {"DONE"}, id="one kind"),
        ],
    )
    def test_filters(self, editor: Client, query: str, expected: set[str]) -> None:
        running()
        failed()
        new_job()
        new_job(kind="other", state=Job.State.DONE)

        jobs = editor.get(f"/jobs.json?{query}").json()["jobs"]

        assert {job["state"] for job in jobs} == expected

    def test_pages_follow_each_other(self, editor: Client) -> None:
        for number in range(120):
            new_job(title=f"Job {number}", state=Job.State.DONE)

        titles: list[str] = []
        path = "/jobs.json?state=DONE"
        while path:
            answer = editor.get(path).json()
            titles += [job["title"] for job in answer["jobs"]]
            path = answer["next"]

        assert answer["count"] == 120
        assert len(titles) == len(set(titles)) == 120

    @pytest.mark.parametrize(
        "query", ["state=BAD", "page=0", "page=x", "page=99999999999999999999"]
    )
    def test_a_hostile_query_is_a_400(self, editor: Client, query: str) -> None:
        assert editor.get(f"/jobs/?{query}").status_code == 400
        assert editor.get(f"/jobs.json?{query}").json()["error"] == "filter-invalid"

    def test_says_whether_there_is_none_or_none_matching(self, editor: Client) -> None:
        assert "No jobs yet" in editor.get("/jobs/").content.decode()
        page = editor.get("/jobs/?state=FAILED").content.decode()
        assert "No job matches the filter" in page

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
        self,
        editor: Client,
        django_assert_max_num_queries: DjangoAssertNumQueries,
    ) -> None:
        for _ in range(60):
            new_job()

        with django_assert_max_num_queries(15):
            editor.get("/jobs/")


class TestOneJob:
    def test_a_failed_one_says_where_why_and_what_to_do(self, editor: Client) -> None:
        job = failed()

        page = editor.get(f"/jobs/{job.id}/").content.decode()

        for text in ("Listing the log", "log-gap", "Version 7 is missing.", "Restore"):
            assert text in page
        assert "Traceback: &lt;secret&gt;" in page

    def test_a_viewer_is_spared_the_details(self, viewer: Client) -> None:
        job = failed(subject_id=SEEN, parameters={"location": "s3://secret"})

        page = viewer.get(f"/jobs/{job.id}/").content.decode()
        data = viewer.get(f"/jobs/{job.id}.json").json()

        assert "Version 7 is missing." in page
        assert "Traceback" not in page
        assert not {"details", "parameters"} & data.keys()

    def test_shows_steps_counts_log_and_subject(self, editor: Client) -> None:
        job = running(
            subject_id=SEEN,
            steps=[
                {
                    "name": "Listing the log",
                    "started_at": "2026-11-21T12:00:00.000Z",
                    "finished_at": "2026-11-21T12:01:05.000Z",
                }
            ],
            counters={"files_listed": 1284},
            log="2026-11-21T12:00:00Z Listing the log\n",
        )

        page = editor.get(f"/jobs/{job.id}/").content.decode()

        for text in ("1 min 5 s", "Files listed", "1,284", "default.orders"):
            assert text in page
        assert 'href="/t/default/orders/"' in page

    def test_an_unknown_one_is_a_404(self, editor: Client) -> None:
        assert editor.get(f"/jobs/{uuid.uuid4()}/").status_code == 404
        assert editor.get(f"/jobs/{uuid.uuid4()}.json").status_code == 404


class TestTheLivePart:
    @pytest.mark.parametrize(
        ("age_s", "expected"),
        [(0, "every 1s"), (30, "every 3s"), (300, "every 10s")],
    )
    def test_asks_less_often_the_longer_it_takes(
        self, editor: Client, age_s: int, expected: str
    ) -> None:
        job = running(created_at=timezone.now() - timedelta(seconds=age_s))

        answer = editor.get(f"/jobs/{job.id}/progress", headers=HTMX)
        part = " ".join(answer.content.decode().split())

        assert expected in part
        assert 'role="status"' in part
        assert 'aria-live="polite"' in part
        assert '<progress class="dw-progress" max="413" value="212"' in part

    @pytest.mark.parametrize("end", [Job.State.DONE, Job.State.CANCELLED])
    def test_asks_no_more_once_it_is_over(self, editor: Client, end: Job.State) -> None:
        job = running(state=end)

        response = editor.get(f"/jobs/{job.id}/progress", headers=HTMX)

        assert "hx-trigger" not in response.content.decode()
        assert response.status_code == 200
        assert "job-finished" in response["HX-Trigger"]
        assert "page-moved-on" not in response.headers.get("HX-Trigger", "")

    def test_reloads_the_page_at_the_end_where_that_is_wanted(
        self, editor: Client
    ) -> None:
        job = running()
        path = f"/jobs/{job.id}/progress?then=reload"
        plain = editor.get(path, headers=HTMX)
        assert "page-moved-on" not in plain.headers.get("HX-Trigger", "")

        Job.objects.update(state=Job.State.DONE)

        assert "page-moved-on" in editor.get(path, headers=HTMX)["HX-Trigger"]

    def test_says_the_place_in_the_queue(self, editor: Client) -> None:
        new_worker()
        for minutes in (3, 2, 1):
            job = new_job(created_at=timezone.now() - timedelta(minutes=minutes))

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert "Number 3 in the queue" in part
        assert "No worker" not in part

    def test_says_that_no_worker_is_there(self, editor: Client) -> None:
        new_worker(seconds_ago=240)
        job = new_job()

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert "No worker for it has reported since" in part
        assert "4 min ago" in part
        assert 'href="/status"' in part

    @pytest.mark.parametrize(
        ("kind", "is_told"), [("tables.index_log", True), ("tables.scan_root", False)]
    )
    def test_says_that_no_worker_takes_jobs_of_its_kind(
        self, editor: Client, kind: str, *, is_told: bool
    ) -> None:
        new_worker("w", "default")
        new_worker("s", "spark", seconds_ago=240)
        job = new_job(kind=kind)

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert ("No worker for it has reported since" in part) == is_told
        assert ("4 min ago" in part) == is_told

    def test_says_the_counts_while_they_grow(self, editor: Client) -> None:
        job = running(counters={"files_listed": 1284, "commits_read": 12})

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert "commits read 12 · files listed 1,284" in part

    def test_says_that_the_worker_is_silent(self, editor: Client) -> None:
        new_worker(seconds_ago=90)
        spoke_at = timezone.now() - timedelta(seconds=90)
        expired_at = spoke_at + timedelta(seconds=60)
        silent = running(lease_owner="w#1", lease_expires_at=expired_at)
        busy = running(lease_owner="other#2")

        part = editor.get(f"/jobs/{silent.id}/progress").content.decode()

        assert "Its worker was last heard of" in part
        assert "Another takes the job" in part
        assert (
            "last heard of"
            not in editor.get(f"/jobs/{busy.id}/progress").content.decode()
        )
        assert editor.get(f"/jobs/{silent.id}.json").json()["worker_seen_at"]

    def test_a_lost_session_leads_to_the_sign_in(self) -> None:
        path = f"/jobs/{running().id}/progress"

        assert "HX-Redirect" in Client().get(path, headers=HTMX)

    def test_counts_what_a_job_without_a_total_has_done(self, editor: Client) -> None:
        job = running(progress_total=None, progress_done=7)

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert "Replaying the log: 7 commits" in part

    def test_says_that_the_worker_has_been_asked_to_stop(self, editor: Client) -> None:
        job = running()

        page = editor.post(f"/jobs/{job.id}/cancel", follow=True).content.decode()

        assert "The worker has been asked to stop." in page
        assert "/cancel" not in page


class TestTheChip:
    def test_counts_what_is_active(self, editor: Client) -> None:
        running()
        new_job()

        page = editor.get("/jobs/").content.decode()

        assert 'aria-label="2 jobs active, 51 %"' in page
        assert "2 jobs, 51 %" in editor.get("/jobs/chip").content.decode()

    def test_is_not_there_when_nothing_runs(self, editor: Client) -> None:
        assert "dw-jobchip" not in editor.get("/jobs/chip").content.decode()


class TestCancelAndRetry:
    def test_a_waiting_job_is_cancelled(self, editor: Client) -> None:
        job = new_job()

        assert editor.post(f"/jobs/{job.id}/cancel").status_code == 302
        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED

    def test_a_failed_job_is_run_again_as_a_new_one(self, editor: Client) -> None:
        job = failed()

        response = editor.post(f"/jobs/{job.id}/retry")

        again = Job.objects.get(state=Job.State.QUEUED)
        assert response["Location"] == f"/jobs/{again.id}/"
        assert again.kind == job.kind

    def test_a_job_that_is_done_is_not(self, editor: Client) -> None:
        job = new_job(state=Job.State.DONE)

        assert editor.post(f"/jobs/{job.id}/retry").status_code == 409

    @pytest.mark.parametrize("action", ["cancel", "retry"])
    def test_a_viewer_does_so_only_with_their_own(
        self, viewer: Client, action: str
    ) -> None:
        vera = User.objects.get(username="vera")
        theirs = failed(subject_id=SEEN, state=Job.State.FAILED)
        own = failed(subject_id=SEEN, requested_by=vera)

        assert viewer.post(f"/jobs/{theirs.id}/{action}").status_code == 403
        assert viewer.post(f"/jobs/{own.id}/{action}").status_code == 302

    @pytest.mark.parametrize("action", ["cancel", "retry"])
    def test_a_get_changes_nothing(self, editor: Client, action: str) -> None:
        job = new_job()

        assert editor.get(f"/jobs/{job.id}/{action}").status_code == 405


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


class TestStatus:
    def test_is_green_with_a_living_worker(self, client: Client) -> None:
        new_worker()
        new_job()

        assert client.get("/status").status_code == 200
        answer = client.get("/status.json")
        assert answer.status_code == 200
        assert answer.json() | {"worker_seen_at": ""} == {
            "status": "ok",
            "workers": 1,
            "worker_seen_at": "",
            "unattended_queues": [],
            "queued": 1,
            "running": 0,
        }

    @pytest.mark.parametrize("seconds_ago", [None, 240])
    def test_says_which_jobs_wait_while_others_are_done(
        self, client: Client, seconds_ago: int | None
    ) -> None:
        new_worker("w", "default")
        if seconds_ago is not None:
            new_worker("s", "spark", seconds_ago=seconds_ago)

        page = client.get("/status").content.decode()

        assert "Some jobs wait" in page
        assert "No worker takes jobs of the queue <code>spark</code>" in page
        assert ("4 min ago" in page) == (seconds_ago is not None)
        assert client.get("/status.json").json()["unattended_queues"] == ["spark"]

    @pytest.mark.parametrize("queues", [["default"], ["default", "spark"]])
    def test_the_list_says_so_too(self, editor: Client, queues: list[str]) -> None:
        new_worker("w", *queues)
        new_job(kind="tables.index_log")

        page = editor.get("/jobs/").content.decode()

        assert ("Some jobs wait." in page) == ("spark" not in queues)
        takes = f"takes {', '.join(queues)}"
        assert takes in editor.get("/status").content.decode()

    def test_is_green_with_a_worker_for_each_queue(self, client: Client) -> None:
        new_worker("w", "default")
        new_worker("s", "spark")

        assert "Everything runs" in client.get("/status").content.decode()

    @pytest.mark.parametrize(
        ("kind", "expected"), [("tables.index_log", False), ("tables.scan_root", True)]
    )
    def test_tells_whether_anybody_takes_a_job(
        self, kind: str, *, expected: bool
    ) -> None:
        new_worker("w", "default")

        assert is_attended(new_job(kind=kind), now=timezone.now()) == expected

    def test_names_the_workers_to_editors_alone(self, editor: Client) -> None:
        seen_at = timezone.now()
        Worker.objects.create(name="host-7/99", started_at=seen_at, seen_at=seen_at)

        assert "host-7/99" in editor.get("/status").content.decode()
        assert "host-7/99" not in Client().get("/status").content.decode()

    @pytest.mark.parametrize("seconds_ago", [None, 60])
    def test_is_red_without_one(self, client: Client, seconds_ago: int | None) -> None:
        if seconds_ago is not None:
            new_worker(seconds_ago=seconds_ago)

        page = client.get("/status")

        assert page.status_code == 503
        assert "No worker is running" in page.content.decode()
        assert client.get("/status.json").status_code == 503
