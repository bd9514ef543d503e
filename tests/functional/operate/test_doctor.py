"""`deltaweb doctor` says what is wrong with a set-up, and what to do."""

import io
import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from apps.operate.doctor.checks import FAIL, OK, WARN
from apps.operate.doctor.own import skew
from apps.operate.switches.state import SHARING, turn
from apps.pages.actions import command_stamp
from apps.tables.models import Lake
from apps.tables.storage.connections import add_connection
from tests.support.answering import answering
from tests.support.pages.factories import new_table

EMPTY_LISTING = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    "<Name>lake</Name><Prefix/><KeyCount>0</KeyCount><MaxKeys>1</MaxKeys>"
    "<IsTruncated>false</IsTruncated></ListBucketResult>"
)
pytestmark = pytest.mark.django_db


def doctor(*line: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """The exit code, and the findings by check."""
    out = io.StringIO()
    code = 0
    try:
        call_command("doctor", "--json", *line, stdout=out)
    except SystemExit as ended:
        code = int(ended.code or 0)
    found: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(out.getvalue())["findings"]:
        found.setdefault(one["check"], []).append(one)
    return code, found


def states(found: list[dict[str, Any]]) -> list[str]:
    return [one["state"] for one in found]


def test_a_usual_set_up_is_well() -> None:
    code, found = doctor()

    assert code == 0
    assert states(found["database"])[-1] == OK
    assert states(found["home"])[-1] == OK
    assert states(found["broker"]) == [OK]
    assert "No worker takes jobs" in found["workers"][0]["says"]


def test_says_what_is_kept_for_how_long(settings: Settings) -> None:
    settings.ARCHIVE_DAYS = 400

    _, found = doctor()

    (line,) = found["retention"]
    assert line["state"] == OK
    assert line["says"] == (
        "Kept: jobs for 30 days, events for 30 days, the audit record for ever,"
        " archived commits for 400 days."
    )


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTAWEB_PUBLIC_URLL", "x")

    _, found = doctor()

    assert found["settings"][0]["todo"] == "Did you mean DELTAWEB_PUBLIC_URL?"


def test_weak_settings_are_named(settings: Settings) -> None:
    settings.SECRET_KEY, settings.ALLOWED_HOSTS = "short", ["*"]
    settings.PUBLIC_URL = "https://tables.example.org"

    code, found = doctor()

    assert code == 1
    assert states(found["settings"]) == [FAIL, WARN, WARN, OK]
    assert "short" not in json.dumps(found["settings"])


def test_a_broker_that_is_down_is_named(settings: Settings) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    settings.BROKER_URL = f"redis://user:password@127.0.0.1:{port}/0"

    code, found = doctor()

    assert (code, states(found["broker"])) == (1, [FAIL])
    assert "password" not in json.dumps(found)


def test_a_home_that_cannot_be_written_is_named(
    settings: Settings, tmp_path: Path
) -> None:
    settings.HOME = tmp_path / "none"

    assert states(doctor()[1]["home"]) == [FAIL]


def test_a_switch_that_is_off_is_named() -> None:
    turn([SHARING], is_off=True, stamp=command_stamp())

    assert doctor()[1]["switches"][0]["todo"] == "deltaweb switch on sharing"


def test_tables_that_cannot_be_reached_are_counted() -> None:
    now = datetime.now(UTC)
    new_table("orders", probed_at=now, probe_failures=3, error="Permission denied.")
    new_table("sales", probed_at=now)

    found = doctor()[1]["storage"]

    assert states(found) == [WARN, WARN]
    assert found[-1]["says"] == "1 of 2 tables cannot be reached."


def new_lake(url: str) -> None:
    now = datetime.now(UTC)
    Lake.objects.create(url=url, created_at=now, scan_due_at=now)


def test_a_lake_that_cannot_be_listed_is_named(tmp_path: Path) -> None:
    new_lake(str(tmp_path))
    new_lake(str(tmp_path / "none"))

    code, found = doctor()

    assert code == 1
    assert states(found["lakes"]) == [FAIL, OK]
    assert "none" in found["lakes"][0]["says"]
    assert found["lakes"][0]["todo"]


def test_the_clock_of_an_object_store_is_compared(settings: Settings) -> None:
    settings.STORAGE_HOSTS = ["127.0.0.1"]
    date = format_datetime(datetime.now(UTC) - timedelta(minutes=10), usegmt=True)
    with store(date) as url:
        add_connection(
            name="lake",
            prefix="s3://lake",
            options={
                "key": "a",
                "secret": "b",
                "client_kwargs.endpoint_url": url,
            },
            stamp=command_stamp(),
        )

        code, found = doctor()

    assert code == 1
    late, listed = found["lakes"]
    assert late["state"] == FAIL
    assert re.search(r"differs from ours by 6\d\d\.", late["says"])
    assert "NTP" in late["todo"]
    assert listed["says"] == "1 place listed: lakes and buckets."


def test_a_file_system_with_another_clock_is_named() -> None:
    found = doctor()[1]["home"]

    says = "The clock of the file system of the home agrees with ours."
    assert found[0]["says"] == says


@pytest.mark.parametrize(
    ("off", "state"), [(0.5, OK), (10, WARN), (-10, WARN), (600, FAIL)]
)
def test_a_clock_that_is_off_is_named(off: float, state: str) -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)

    assert skew("it", now + timedelta(seconds=off), now, now)[0] == state


@contextmanager
def store(date: str) -> Iterator[str]:
    """An object store without objects, whose clock says this."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = EMPTY_LISTING.encode()
            self.send_response_only(200)
            self.send_header("Date", date)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    with answering(server) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def proxy(status: int, headers: dict[str, str]) -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value.format(url=url))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield url
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "headers", "todo"),
    [
        (200, {"X-Request-Id": "1"}, ""),
        (301, {"Location": "{url}/sign-in/"}, "X-Forwarded-Proto"),
        (400, {}, "DELTAWEB_ALLOWED_HOSTS"),
        (502, {}, "leads to deltaweb"),
        (200, {}, "leads to deltaweb"),
    ],
)
def test_the_public_address_is_requested(
    status: int, headers: dict[str, str], todo: str
) -> None:
    with proxy(status, headers) as url:
        found = doctor("--url", url)[1]["proxy"]

    assert todo in found[-1]["todo"]
    assert (found[-1]["state"] == OK) == (not todo)


def test_an_address_that_does_not_answer_is_named() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"

    assert states(doctor("--url", url)[1]["proxy"]) == [FAIL]


def test_a_set_up_without_sign_on_is_well() -> None:
    _, found = doctor()

    assert states(found["sign-on"]) == [OK]


def test_a_provider_that_does_not_answer_is_a_failure(settings: Settings) -> None:
    settings.HAS_SIGN_ON = True
    settings.OIDC_ISSUER = "http://127.0.0.1:1"

    code, found = doctor()

    assert code == 1
    failed = [one for one in found["sign-on"] if one["state"] == FAIL]
    assert [one["says"].partition(":")[0] for one in failed] == [
        "discovery",
        "local administrator",
    ]
    assert failed[0]["todo"] == "deltaweb sso check says more."
