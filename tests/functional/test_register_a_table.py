"""An editor checks a location, sees what is there, and registers the table."""

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.tables.catalogue.adding.samples import SAMPLES
from apps.tables.catalogue.checks import CHECK_LOCATION
from apps.tables.catalogue.lakes.scan_job import SCAN_ROOT
from apps.tables.models import AllowedRoot, Table
from tests.support.pages.factories import NOW, new_table, new_user
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
REGISTER = "/tables/new"


@pytest.fixture
def admin(client: Client) -> User:
    user = new_user("ada", role=User.Role.ADMIN)
    client.force_login(user)
    return user


def check(client: Client, location: object, name: str = "") -> Job:
    """Ask for a check, do the worker's part, and return the job."""
    answer = client.post(
        reverse("tables:location-check"), {"location": str(location), "name": name}
    )
    assert answer.status_code == 302, answer.content.decode()
    job = Job.objects.get(kind="tables.check_location")
    assert f"check={job.id}" in answer["Location"]
    CHECK_LOCATION.work(job.id)
    job.refresh_from_db()
    return job


def page(client: Client, job: Job) -> str:
    return client.get(REGISTER, {"check": str(job.id)}).content.decode()


@pytest.mark.usefixtures("admin")
class TestCheck:
    def test_shows_progress_while_the_check_waits(self, client: Client, lake: Path):
        client.post(reverse("tables:location-check"), {"location": f"{lake}/orders"})
        job = Job.objects.get()

        shown = page(client, job)

        assert "Looking at" in shown
        assert 'hx-trigger="news"' in shown
        assert "Register</button>" not in shown

    def test_shows_what_was_found_before_anything_is_saved(self, client, lake):
        job = check(client, lake / "orders")

        shown = page(client, job)

        assert job.state == Job.State.DONE, job.error
        assert "reader 1, writer 2" in shown
        assert "Partitioned by order_date" in words(shown)
        assert 'value="orders"' in shown
        assert not Table.objects.exists()

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            pytest.param("nothing", "location-not-found", id="nothing there"),
            pytest.param("empty", "not-a-delta-table", id="a folder without a log"),
        ],
    )
    def test_says_which_step_failed_and_why(self, client, tmp_path, path, code):
        (tmp_path / "empty").mkdir()

        job = check(client, tmp_path / path)
        shown = page(client, job)

        assert job.state == Job.State.FAILED
        assert job.error_code == code
        assert "No table can be read there" in shown
        assert job.step
        assert f"failed at: {job.step}" in shown

    @pytest.mark.parametrize(
        "location", ["orders", "http://host/x", "", "s3://k:s@b/x"]
    )
    def test_refuses_a_text_that_is_no_location_at_once(self, client, location):
        answer = client.post(reverse("tables:location-check"), {"location": location})

        assert answer.status_code == 422
        assert 'aria-invalid="true"' in answer.content.decode()
        assert not Job.objects.exists()

    def test_a_check_is_told_as_every_job_is(self, client: Client, lake: Path) -> None:
        job = check(client, lake / "nowhere")

        told = client.get(f"{REGISTER}.json", {"check": str(job.id)}).json()

        assert told["check"]["id"] == str(job.id)
        assert told["check"]["state"] == "FAILED"
        assert told["check"]["error"] == job.error_code
        assert told["check"]["message"] == job.error

    def test_another_users_check_is_not_shown(self, client: Client, lake: Path) -> None:
        job = check(client, lake / "orders")
        client.force_login(new_user("ed", role=User.Role.EDITOR))

        assert "reader 1, writer 2" not in page(client, job)


@pytest.mark.usefixtures("admin")
class TestSave:
    def test_registers_what_was_checked_and_opens_it(self, client, admin, lake):
        job = check(client, lake / "orders")

        answer = client.post(
            REGISTER,
            {
                "check": str(job.id),
                "location": "/ignored",
                "name": "sales.orders",
                "description": "All of them",
                "restricted": "on",
            },
        )

        table = Table.objects.get()
        assert answer["Location"] == "/t/sales/orders/"
        assert table.location == f"{lake}/orders"
        assert table.description == "All of them"
        assert table.is_private
        assert table.created_by == admin
        assert Job.objects.filter(kind="tables.index_log").count() == 1

    def test_a_taken_name_keeps_what_was_found_on_the_page(self, client, lake):
        new_table("orders")
        job = check(client, lake / "orders")

        answer = client.post(
            REGISTER, {"check": str(job.id), "location": "/x", "name": "orders"}
        )

        assert answer.status_code == 422
        assert "already registered" in answer.content.decode()
        assert "reader 1, writer 2" in answer.content.decode()

    def test_nothing_is_registered_without_a_check(self, client: Client, lake: Path):
        answer = client.post(REGISTER, {"location": f"{lake}/orders", "name": "orders"})

        assert answer.status_code == 302
        assert "check=" in answer["Location"]
        assert not Table.objects.exists()


@pytest.mark.usefixtures("admin")
class TestScan:
    def test_registers_every_table_below_a_folder(self, client: Client, lake: Path):
        answer = client.post(reverse("tables:table-scan"), {"root": str(lake)})
        job = Job.objects.get(kind="tables.scan_root")
        SCAN_ROOT.work(job.id)

        shown = client.get(answer["Location"]).content.decode()

        assert "4 tables registered" in shown
        assert Table.objects.count() == 4

    def test_says_why_a_folder_cannot_be_scanned(self, client: Client, tmp_path: Path):
        folder = tmp_path / "lake"
        folder.mkdir()
        answer = client.post(reverse("tables:table-scan"), {"root": str(folder)})
        folder.rmdir()
        SCAN_ROOT.work(Job.objects.get().id)

        shown = client.get(answer["Location"]).content.decode()

        assert "The lake could not be scanned" in shown
        assert "does not exist" in shown


@pytest.mark.usefixtures("admin")
class TestRefusedForms:
    @pytest.mark.parametrize("root", ["", "relative", "http://host/x"])
    def test_a_text_that_is_no_folder_is_refused_at_once(self, client, root):
        answer = client.post(reverse("tables:table-scan"), {"root": root})

        assert answer.status_code == 422
        assert 'aria-invalid="true"' in answer.content.decode()
        assert not Job.objects.exists()

    @pytest.mark.parametrize("name", ["", "a b", "a.b.c"])
    def test_a_name_that_is_none_is_refused(self, client, lake, name):
        job = check(client, lake / "orders")

        answer = client.post(
            REGISTER, {"check": str(job.id), "location": "/x", "name": name}
        )

        assert answer.status_code == 422
        assert not Table.objects.exists()

    def test_a_cancelled_check_says_so(self, client: Client, lake: Path) -> None:
        job = check(client, lake / "orders")
        Job.objects.update(state=Job.State.CANCELLED)

        assert "was cancelled" in page(client, job)


@pytest.mark.usefixtures("admin")
class TestSamples:
    def test_an_empty_install_offers_them_and_loads_them(self, client: Client) -> None:
        assert "Load the sample tables" in client.get("/tables/").content.decode()

        client.post(reverse("tables:load-samples"))
        SAMPLES.work(Job.objects.get().id)

        shown = client.get("/tables/").content.decode()
        assert shown.count('class="dw-tname"') == 4
        assert Table.objects.filter(namespace="samples").count() == 4
        assert Job.objects.get(kind="tables.load_samples").progress_done == 4

    def test_are_counted_one_by_one_while_they_are_made(self, client: Client) -> None:
        client.post(reverse("tables:load-samples"))

        with CaptureQueriesContext(connection) as asked:
            SAMPLES.work(Job.objects.get().id)

        counts = r'"progress_done" = (\d), "progress_total" = (\d)'
        told = re.findall(counts, " ".join(q["sql"] for q in asked.captured_queries))
        assert [*dict.fromkeys(told)] == [(str(done), "4") for done in range(5)]

    @pytest.mark.parametrize("path", ["/", "/tables/"])
    def test_their_job_and_its_progress_are_shown_at_once(self, client, path):
        answer = client.post(
            reverse("tables:load-samples"), {"next": path}, follow=True
        )

        job, shown = Job.objects.get(), answer.content.decode()
        assert answer.redirect_chain == [(path, 302)]
        assert f'hx-get="/jobs/{job.id}/progress?then=result"' in shown
        assert f'href="/jobs/{job.id}/"' in shown
        assert "Next in the queue" in shown
        assert "Load the sample tables</button>" not in shown

    def test_a_second_click_asks_for_nothing_more(self, client: Client) -> None:
        for _ in range(2):
            client.post(reverse("tables:load-samples"))

        assert Job.objects.count() == 1

    def test_one_that_failed_says_so_and_can_be_tried_again(self, client: Client):
        client.post(reverse("tables:load-samples"))
        Job.objects.update(state=Job.State.FAILED, error="The disk is full.")

        shown = client.get("/tables/").content.decode()

        assert "The disk is full." in shown
        assert "Load the sample tables</button>" in shown

    def test_nobody_is_led_to_another_host(self, client: Client) -> None:
        answer = client.post(
            reverse("tables:load-samples"), {"next": "//evil.example/"}
        )

        assert answer["Location"] == "/tables/"


class TestRoles:
    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("get", REGISTER),
            ("post", REGISTER),
            ("post", "/tables/check"),
            ("post", "/tables/scan"),
            ("post", "/tables/load-samples"),
            ("get", "/t/default/orders/settings"),
            ("post", "/t/default/orders/settings"),
            ("post", "/t/default/orders/remove"),
        ],
    )
    def test_viewers_change_nothing(self, client: Client, method: str, path: str):
        new_table("orders")
        client.force_login(new_user("vera"))

        answer = getattr(client, method)(path, {"location": "/x", "confirm": "orders"})

        assert answer.status_code == 403
        assert Table.objects.count() == 1
        assert not Job.objects.exists()

    def test_editors_register_from_allowed_roots_alone(self, client, lake):
        client.force_login(new_user("ed", role=User.Role.EDITOR))
        location = {"location": f"{lake}/orders"}

        refused = client.post(reverse("tables:location-check"), location)
        AllowedRoot.objects.create(path=str(lake.resolve()), created_at=NOW)
        allowed = client.post(reverse("tables:location-check"), location)
        form = client.get(REGISTER).content.decode()

        assert refused.status_code == 422
        assert "allowed roots" in refused.content.decode()
        assert allowed.status_code == 302
        assert f"<code>{lake.resolve()}</code>" in form

    @pytest.mark.usefixtures("admin")
    def test_a_removed_table_is_refused_without_its_name(self, client: Client) -> None:
        new_table("orders")

        refused = client.post("/t/default/orders/remove", {"confirm": "order"})
        removed = client.post("/t/default/orders/remove", {"confirm": "orders"})

        assert refused.status_code == 422
        assert removed["Location"] == "/tables/"
        assert not Table.objects.exists()
