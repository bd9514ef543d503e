"""The connection doctor: what a client wrote is read and forgotten, steps are a job."""

import io
import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.sharing.models import Recipient
from apps.sharing.recipients.doctor.doctor import EXAMINE_RECIPIENT
from tests.functional import command_line
from tests.functional.sharing_pages.pages import as_json, page
from tests.support.pages.factories import (
    new_grant,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)
from tests.support.processes.ports import free_port

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SECRET = "dwt_0123abcd" + "s" * 43
ERROR = (
    "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: "
    "https://old.example/delta-sharing/shares/sales/schemas/crm/tables/gone/query\n"
    f"Authorization: Bearer {SECRET}\n"
    "{ 'message': 'This bearer token has been revoked. Ask the provider' }"
)


@pytest.fixture(autouse=True)
def _nobody_listens(settings: Settings) -> None:
    settings.PUBLIC_URL = f"http://127.0.0.1:{free_port()}"


@pytest.fixture
def address(acme: Recipient) -> str:
    return f"/recipients/{acme.name}/doctor"


def found(findings, step: str) -> list[tuple[str, str]]:
    """The verdicts of a step, each with what it is of."""
    return [(one["verdict"], one["subject"]) for one in findings if one["step"] == step]


def test_what_a_client_wrote_is_answered_and_kept_nowhere(admin, acme, address) -> None:
    token, _ = new_token(acme, revoked_at=timezone.now())
    text = ERROR.replace(SECRET[:12], token.prefix)
    answer = admin.post(f"{address}.json", {"error": text})
    document = answer.json()["diagnosis"]
    shown = admin.post(address, {"error": text})

    assert [one["key"] for one in document["causes"]] == ["token-revoked"]
    assert found(document["findings"], "token") == [("failed", f"{token.prefix}…")]
    assert found(document["findings"], "http") == [("warning", "old.example")]
    assert found(document["findings"], "grant") == [("failed", "sales.crm.gone")]
    for one in (answer, shown):
        assert one["Cache-Control"] == "no-store"
        assert "s" * 43 not in one.content.decode()
    assert "was revoked" in shown.content.decode()
    assert not Job.objects.exists()
    assert "was revoked" not in page(admin, address)


def test_a_token_is_not_shown_wherever_it_stands(admin, address) -> None:
    text = f"http://{SECRET}/delta-sharing/shares/{SECRET}/schemas/a/tables/b"
    answer = admin.post(f"{address}.json", {"error": text})

    assert len(answer.json()["diagnosis"]["findings"]) == 3
    assert "s" * 43 not in answer.content.decode()


def test_an_error_that_nobody_knows_is_said_to_be(admin, address) -> None:
    shown = admin.post(address, {"error": "KeyError: 'orders'"}).content.decode()

    assert "deltaweb does not know this error" in shown


@pytest.mark.parametrize(
    "error", ["", "\0", "<script>", "/shares/\0/schemas/a/tables/b"]
)
def test_a_hostile_text_is_answered(admin, address, error: str) -> None:
    answer = admin.post(address, {"error": error})

    assert answer.status_code == 200
    assert "<script>" not in answer.content.decode().partition('id="error"')[2]


def test_the_steps_are_a_job_whose_findings_the_page_shows(admin, acme, address):
    share = new_share("sales")
    new_shared_table(share, "crm.lost")
    new_grant(share, acme)
    admin.post(address)
    (job,) = Job.objects.filter(kind=EXAMINE_RECIPIENT.name)

    EXAMINE_RECIPIENT.work(job.id)
    document = as_json(admin, f"{address}.json")

    assert document["examination"]["passed"] is False
    assert document["job"] == str(job.id)
    findings = document["examination"]["findings"]
    assert found(findings, "http")[0][0] == "failed"
    assert found(findings, "token") == [("failed", acme.name)]
    assert found(findings, "format") == [("failed", "sales.crm.lost")]
    shown = page(admin, address)
    assert "It has no token." in shown
    assert "It lists 1 table." in shown
    assert not acme.tokens.exists()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"expires_at": timedelta(days=90)}, "ok"),
        ({"expires_at": timedelta(days=2)}, "warning"),
        ({"expires_at": timedelta(days=-1)}, "failed"),
        ({"activated_at": None}, "failed"),
    ],
)
def test_a_token_that_does_not_work_is_told(acme, columns, expected: str) -> None:
    now = timezone.now()
    moved = {name: span and now + span for name, span in columns.items()}
    new_token(acme, **{"expires_at": now + timedelta(days=9), **moved})

    document = command_line.run_json("recipient", "doctor", acme.name)

    assert found(document["findings"], "token") == [(expected, acme.name)]


def test_the_command_reads_an_error_from_stdin(acme, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(ERROR))
    said = command_line.Ran("recipient", "doctor", acme.name, "--error", "-").stdout

    assert "The token of the profile was revoked." in said
    assert "s" * 43 not in said


def test_a_file_that_is_not_there_is_one_sentence(acme) -> None:
    said = command_line.refusal("recipient", "doctor", acme.name, "--error", "/no/file")

    assert "cannot be read" in said


def test_what_it_reads_is_recorded_for_who_asked(admin, acme, address, lake) -> None:
    table = new_table("orders", location=str(lake / "orders"))
    new_grant(new_shared_table(new_share(), "crm.orders", table=table).share, acme)

    admin.post(address)
    job = Job.objects.get()
    EXAMINE_RECIPIENT.work(job.id)

    made = AuditEvent.objects.get(action="token.issue")
    assert job.requested_by is not None
    assert (job.requested_by.username, made.actor) == ("ada", "ada")


def test_only_administrators_examine(address) -> None:
    assert Client().post(address).status_code == 302
    assert not Job.objects.exists()


def test_a_recipient_that_is_not_there_is_not_found(admin: Client) -> None:
    assert admin.get("/recipients/nobody/doctor").status_code == 404
    assert json.loads(admin.get("/recipients/nobody/doctor.json").content)
