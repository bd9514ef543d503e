"""Lakes as pages and the REST API change them."""

from pathlib import Path

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.listing.resource import Started
from apps.jobs.listing.selectors import outcome_of
from apps.jobs.models import Job
from apps.pages.actions import command_stamp
from apps.tables.catalogue.lakes.changes import SCAN
from apps.tables.catalogue.lakes.scan_job import request_scan
from apps.tables.catalogue.lakes.services import LakeRule, add_lake
from apps.tables.models import Lake
from apps.tables.models.schedules import schedule_name
from apps.tables.storage.roots import allow_root
from tests.support.pages.browser_forms import forms_of
from tests.support.pages.factories import NOW, signed_in
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> str:
    allow_root(str(tmp_path), reason="LAKE", now=NOW)
    return str(tmp_path)


@pytest.fixture
def lake(folder: str) -> Lake:
    return add_lake(
        folder, LakeRule(namespace="raw", schedule="6h"), stamp=command_stamp()
    )


@pytest.fixture
def editor(db: None) -> Client:  # noqa: ARG001 (users are rows)
    return signed_in("eve", role=User.Role.EDITOR)


@pytest.fixture
def script() -> Script:
    return Script("read", "write", role=User.Role.EDITOR, name="bob")


def test_a_scan_by_rest_answers_with_its_job(script: Script, folder: str) -> None:
    answer = script.call("POST", f"{V1}/tables/scan", {"url": folder})

    job, lake = Job.objects.get(), Lake.objects.get()
    assert (answer.status_code, answer["Location"]) == (202, f"{V1}/jobs/{job.id}")
    assert answer.json()["job"]["parameters"] == {"root": folder}
    assert (lake.owner, lake.namespace) == (script.user, "")
    assert schedule_name(lake.scan_interval_s) == "never"
    record = AuditEvent.objects.get(action="lake.add")
    assert (record.actor, record.address) == ("bob", "127.0.0.1")


@pytest.mark.parametrize("missing", ["no/such/folder", "file"])
def test_a_lake_that_was_never_reached_is_not_kept(script, editor, folder, missing):
    (Path(folder) / "file").touch()
    url = f"{folder}/{missing}"

    by_rest = script.call("POST", f"{V1}/tables/scan", {"url": url})
    by_page = editor.post("/tables/scan", {"root": url, "schedule": "1h"})

    assert refusal(by_rest) == (422, "scan-root-invalid")
    assert [*by_page.context["form"].errors] == ["root"]
    assert not Lake.objects.exists()
    assert not Job.objects.exists()


def test_a_known_lake_is_scanned_again_as_it_is(script: Script, lake: Lake) -> None:
    answer = script.call("POST", f"{V1}/lakes/{lake.id}/scan")

    assert answer.status_code == 202
    assert answer.json()["job"]["title"] == f"Scan {lake.url}"
    assert (Lake.objects.get().namespace, lake.scan_interval_s) == ("raw", 6 * 3600)
    assert not AuditEvent.objects.filter(actor="bob").exists()


def test_its_page_and_rest_tell_the_same(script, editor, lake: Lake) -> None:
    there = f"{V1}/lakes/{lake.id}"

    changed = script.call("PATCH", there, {"schedule": "1d"}).json()

    assert (changed["schedule"], changed["namespace"]) == ("1d", "raw")
    assert changed == script.call("GET", there).json()
    assert changed == editor.get(f"{lake.get_absolute_url()}.json").json()
    assert script.call("GET", f"{V1}/lakes").json()["lakes"] == [
        {key: one for key, one in changed.items() if key not in {"vanished", "scan"}}
    ]


def test_it_is_removed_by_rest(script: Script, lake: Lake) -> None:
    assert script.call("DELETE", f"{V1}/lakes/{lake.id}").status_code == 204
    assert refusal(script.call("GET", f"{V1}/lakes/{lake.id}")) == (
        404,
        "lake-not-found",
    )


@pytest.mark.parametrize("schedule", ["1m", "default", "often", ""])
def test_a_schedule_that_lakes_do_not_have_is_refused(script, schedule, lake) -> None:
    answer = script.call("PATCH", f"{V1}/lakes/{lake.id}", {"schedule": schedule})

    assert refusal(answer) == (400, "body-invalid")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("root", "relative"),
        ("root", "/etc"),
        ("root", ""),
        ("namespace", "a b"),
        ("schedule", "1m"),
    ],
)
def test_an_error_is_shown_beside_its_field(editor, folder, field, value) -> None:
    sent = {"root": folder, "namespace": "", "schedule": "1h", field: value}

    answer = editor.post("/tables/scan", sent)

    assert answer.status_code == 422
    assert [*answer.context["form"].errors] == [field]
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not Lake.objects.exists()


def test_the_form_of_a_lake_shows_how_it_is_scanned(editor, lake: Lake) -> None:
    page = editor.get(lake.get_absolute_url()).content.decode()

    (form,) = [one for one in forms_of(page) if "schedule" in one.sent()]
    assert form.sent() | {"csrfmiddlewaretoken": ""} == {
        "csrfmiddlewaretoken": "",
        "namespace": ["raw"],
        "schedule": ["6h"],
    }
    assert "Every 6 hours" in page


def test_a_scan_that_is_requested_on_the_page_says_so(editor, lake: Lake) -> None:
    answer = editor.post(f"{lake.get_absolute_url()}/scan")

    assert answer["Location"] == lake.get_absolute_url()
    (message,) = get_messages(answer.wsgi_request)
    assert str(message) == f"The scan of {lake.url} has started."


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (Job.State.QUEUED, "The scan of {} has started."),
        (Job.State.FAILED, "The scan of {} has started."),
        (Job.State.DONE, "{} was scanned."),
    ],
)
def test_a_scan_that_has_ended_already_is_told_so(lake, state, said) -> None:
    job = request_scan(lake.url, stamp=command_stamp())
    job.state = state

    assert SCAN.says(Started(outcome_of(job))) == said.format(lake.url)


def test_a_scan_that_is_refused_says_why_on_the_page(editor: Client) -> None:
    elsewhere = add_lake("/srv/other", stamp=command_stamp())

    answer = editor.post(f"{elsewhere.get_absolute_url()}/scan")

    assert answer["Location"] == elsewhere.get_absolute_url()
    (message,) = get_messages(answer.wsgi_request)
    assert "outside the allowed roots" in str(message)
    assert not Job.objects.exists()
