"""What is switched off answers with the sentence, and the rest works."""

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.services import issue_sign_in_link
from apps.jobs.models import Job
from apps.jobs.running.held_lease import take_lease
from apps.operate.switches.state import (
    JOBS,
    SHARING,
    SIGN_IN,
    WRITES,
    states,
    turn,
)
from apps.pages.actions import command_stamp
from tests.functional.command_line import Ran
from tests.support.pages.factories import (
    new_recipient,
    new_table,
    new_token,
    new_user,
    signed_in,
)

pytestmark = pytest.mark.django_db
WHY = "We move until 14:00 UTC."


def off(name: str) -> None:
    turn([name], is_off=True, sentence=WHY, stamp=command_stamp())


def on(name: str) -> None:
    turn([name], is_off=False, stamp=command_stamp())


def signs_in(link: str) -> int:
    client = Client()
    status = client.post(f"/{link.split('/', 3)[3]}").status_code
    return status if client.get("/me.json").status_code == 200 else -status


class TestSignIn:
    def test_lets_administrators_in_and_leaves_the_link_of_others(self) -> None:
        vera, ada = new_user("vera"), new_user("ada", role="ADMIN")
        links = {
            one.username: issue_sign_in_link(user=one, stamp=command_stamp())
            for one in (vera, ada)
        }
        off(SIGN_IN)

        assert signs_in(links["ada"]) == 302
        assert signs_in(links["vera"]) == -503
        on(SIGN_IN)
        assert signs_in(links["vera"]) == 302

    def test_refuses_a_password_with_the_sentence(self) -> None:
        vera = new_user("vera")
        vera.set_password("a long enough phrase")
        vera.save()
        off(SIGN_IN)
        client = Client()

        shown = client.get("/sign-in/").content.decode()
        sent = client.post(
            "/sign-in/", {"name": "vera", "password": "a long enough phrase"}
        )

        assert WHY in shown
        assert (sent.status_code, sent["Retry-After"]) == (503, "60")
        assert client.get("/me.json").status_code == 401

    def test_leaves_sessions(self, viewer: Client) -> None:
        off(SIGN_IN)

        assert viewer.get("/me.json").status_code == 200


class TestSharing:
    def test_refuses_recipients_in_the_form_of_the_protocol(self) -> None:
        token, secret = new_token(new_recipient("acme"))
        headers = {"Authorization": f"Bearer {secret}"}
        assert Client().get("/delta-sharing/shares", headers=headers).status_code == 200
        off(SHARING)

        answer = Client().get("/delta-sharing/shares", headers=headers)

        assert (answer.status_code, answer["Retry-After"]) == (503, "60")
        assert answer.json() == {"errorCode": "INTERNAL_ERROR", "message": WHY}
        assert token.recipient.name == "acme"

    @pytest.mark.parametrize(
        "path",
        [
            "/delta-sharing/shares",
            "/delta-sharing//shares",
            "/delta-sharing/files/x/y",
            "/iceberg/v1/config",
            "/portal/",
            "/portal/sign-in",
            "/activate/abc",
        ],
    )
    def test_closes_each_door(self, path: str) -> None:
        off(SHARING)

        assert Client().get(path).status_code == 503

    def test_leaves_pages_of_people_with_a_banner(self, viewer: Client) -> None:
        off(SHARING)

        page = viewer.get("/")

        assert page.status_code == 200
        assert WHY in page.content.decode()


class TestJobs:
    def test_leaves_waiting_jobs_in_the_queue(self) -> None:
        job = Job.objects.create(kind="x", title="x", created_at=timezone.now())
        off(JOBS)

        assert take_lease(job.id, clock=timezone.now) is None
        job.refresh_from_db()
        assert (job.state, job.attempts) == (Job.State.QUEUED, 0)

        on(JOBS)

        assert take_lease(job.id, clock=timezone.now) is not None


class TestWrites:
    def test_refuses_what_is_recorded_as_a_change(self) -> None:
        admin = signed_in("ada", role="ADMIN")
        table = new_table("orders")
        off(WRITES)

        by_rest = admin.patch(
            "/api/v1/tables/default/orders",
            {"description": "x"},
            content_type="application/json",
        )
        by_form = admin.post(
            "/admin-area/users", {"name": "eve", "role": "VIEWER"}, follow=True
        )

        assert (by_rest.status_code, by_rest.json()["error"]) == (503, "switched-off")
        assert WHY in by_form.content.decode()
        assert not User.objects.filter(username="eve").exists()
        table.refresh_from_db()
        assert table.description == ""

    def test_refuses_commands_too(self) -> None:
        off(WRITES)

        with pytest.raises(Exception, match=WHY):
            Ran("user", "add", "eve", "--role", "viewer")

        assert not User.objects.exists()

    def test_lets_an_administrator_sign_in_and_switch_on(self) -> None:
        new_user("ada", role="ADMIN")
        off(WRITES)

        link = Ran("user", "link", "ada").stdout.strip()
        client = Client()
        client.post(f"/{link.split('/', 3)[3]}")
        client.post("/admin-area/switches/writes/on")

        assert states.off() == {}
