import json
import threading

import pytest
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.audit.models import AuditEvent
from apps.sharing.api import audit
from apps.sharing.api.audit import CallRecord
from tests.functional.sharing_api.calls import (
    PREFIX,
    Caller,
    Lake,
    body_of,
    files,
    local,
)
from tests.support.pages.factories import NOW

TABLE = "/shares/sales/schemas/crm/tables/orders"


def newest() -> AuditEvent:
    event = AuditEvent.objects.first()
    assert event is not None
    return event


class TestRecord:
    @pytest.mark.parametrize(
        ("action", "path"),
        [
            ("share.list", "/shares"),
            ("share.get", "/shares/SALES"),
            ("schema.list", "/shares/sales/schemas"),
            ("table.list", "/shares/sales/schemas/crm/tables"),
            ("table.list_all", "/shares/sales/all-tables"),
            ("table.version", TABLE),
            ("table.version", f"{TABLE}/version"),
            ("table.metadata", f"{TABLE}/metadata"),
            ("table.query", f"{TABLE}/query"),
        ],
    )
    def test_names_every_call_and_caller(self, acme: Caller, action: str, path: str):
        method = "POST" if action == "table.query" else "GET"
        answer = acme.ask(method, path, b"{}")
        body_of(answer)

        event = newest()
        assert AuditEvent.objects.count() == 1
        assert (event.kind, event.action, event.status) == ("CALL", action, 200)
        assert event.recipient == "acme"
        assert event.recipient_id == acme.recipient.id
        assert (event.token_id, event.token_prefix) == (
            acme.token.id,
            acme.token.prefix,
        )
        assert event.address == "127.0.0.1"
        assert event.request_id == answer["X-Request-Id"]
        assert event.duration_ms is not None
        assert event.share == ("" if action == "share.list" else "Sales")

    def test_tells_what_a_query_offered(self, acme: Caller, lake: Lake) -> None:
        hints = ["day = '2026-01-02'", "what?"]
        body = {"predicateHints": hints, "version": 2}
        answer = acme.query(lake.path, body, User_Agent="Delta-Sharing-Spark/1.4")
        assert AuditEvent.objects.count() == 0  # not before the stream has ended
        size = files(answer)[0]["size"]

        event = newest()
        assert (event.share, event.schema, event.table) == ("Sales", "crm", "Orders")
        assert event.table_id == lake.shared.table_id
        assert event.version == 2
        assert (event.num_files, event.total_files) == (1, 2)
        assert event.size_bytes == size
        assert event.user_agent == "Delta-Sharing-Spark/1.4"
        assert event.detail["num_skipped_hints"] == 1
        assert "what?" in event.detail["skipped_hints"][0]["text"]

    @pytest.mark.parametrize(
        ("path", "status", "error_code"),
        [
            ("/shares/nope", 404, "RESOURCE_DOES_NOT_EXIST"),
            ("/shares?maxResults=-1", 400, "INVALID_PARAMETER_VALUE"),
            (
                "/shares/Sales/schemas/crm/tables/Nothing/metadata",
                404,
                "RESOURCE_DOES_NOT_EXIST",
            ),
        ],
    )
    def test_tells_of_refusals(self, acme, path, status, error_code):
        acme.get(path)

        event = newest()
        assert (event.status, event.error_code) == (status, error_code)
        assert event.recipient == "acme"

    @pytest.mark.parametrize(
        ("path", "message"),
        [("/shares/nope", "nope"), ("/shares?maxResults=-1", "maxResults")],
    )
    def test_tells_why_as_the_caller_was_told(self, acme, path, message):
        told = json.loads(body_of(acme.get(path)))["message"]

        assert message in told
        assert newest().detail["reason"] == told

    def test_tells_of_callers_that_nobody_knows(self, lake: Lake, stranger: Client):
        secret = "dwt_0123abcd-not-a-token-of-anybody"
        stranger.get(
            f"{PREFIX}{lake.path}/version",
            headers={"Authorization": f"Bearer {secret}", "User-Agent": "curl/8"},
        )

        event = newest()
        assert (event.action, event.status) == ("table.version", 401)
        assert event.error_code == "UNAUTHENTICATED"
        assert (event.recipient, event.token_id) == ("", None)
        assert (event.share, event.table) == ("Sales", "Orders")
        assert "not-a-token" not in json.dumps(str(event.__dict__))

    def test_tells_whose_token_has_ended(self, acme: Caller) -> None:
        acme.token.revoked_at = NOW
        acme.token.save()

        acme.get("/shares")

        event = newest()
        assert (event.status, event.recipient) == (401, "acme")
        assert event.token_prefix == acme.token.prefix

    def test_tells_of_refused_files_alone(self, acme: Caller, lake: Lake) -> None:
        url = local(files(acme.query(lake.path))[0]["url"])

        answer = acme.client.get(f"{PREFIX}{url}")
        body_of(answer)
        assert AuditEvent.objects.count() == 1
        acme.client.get(f"{PREFIX}{url}0")

        event = newest()
        assert AuditEvent.objects.count() == 2
        assert (event.action, event.status) == ("call.refused", 403)
        assert event.share == "Sales"
        kept = str(event.__dict__)
        assert "sig=" not in kept
        assert url.rpartition("sig=")[2] not in kept

    def test_holds_no_secret(self, acme: Caller, lake: Lake) -> None:
        body_of(acme.query(lake.path))
        acme.get(f"/shares?pageToken={acme.secret}")
        acme.get(f"/shares?maxResults={acme.secret}")

        for event in AuditEvent.objects.all():
            assert acme.secret not in str(event.__dict__)

    def test_keeps_names_that_a_database_cannot(self, acme: Caller) -> None:
        acme.get("/shares/a%00b", User_Agent="x" * 5000)

        assert newest().share == "a\N{REPLACEMENT CHARACTER}b"
        assert newest().user_agent == "x" * 300


class TestCost:
    def test_of_a_version_is_few_queries(
        self,
        acme: Caller,
        lake: Lake,
        django_assert_max_num_queries: DjangoAssertNumQueries,
    ) -> None:
        acme.get(f"{lake.path}/version")

        # The token, the table, the allowed roots, the storage, and the record, around
        # which SQLite is told how long to wait.
        with django_assert_max_num_queries(11):
            acme.get(f"{lake.path}/version")

    def test_of_a_long_list_is_that_of_a_short_one(
        self, acme: Caller, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        acme.get("/shares/sales/all-tables")

        with django_assert_max_num_queries(11):
            acme.get("/shares/sales/all-tables")


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="a lock of SQLite's kind")
def test_a_locked_database_spoils_no_answer(acme, lake, caplog, monkeypatch):
    import sqlite3

    monkeypatch.setattr(audit, "REQUEST_WAIT_MS", 50)

    name = str(connection.settings_dict["NAME"])
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with sqlite3.connect(name, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            locked.set()
            done.wait(60)
            other.execute("ROLLBACK")
        other.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(60)
        answer = acme.get(f"{lake.path}/version")
    finally:
        done.set()
        holder.join()

    assert answer.status_code == 200
    assert answer["Delta-Table-Version"] == "3"
    assert '"action": "table.version"' in "\n".join(caplog.messages)
    assert AuditEvent.objects.count() == 0


def test_a_record_is_written_once(db: None) -> None:  # noqa: ARG001 (a database)
    record = CallRecord(action="share.list", at=NOW)

    record.save(status=200)
    record.save(status=500)

    assert [event.status for event in AuditEvent.objects.all()] == [200]


def test_sizes_that_no_column_holds_break_no_answer(acme: Caller, lake: Lake) -> None:
    for name in ("one", "two"):
        lake.commit(
            {
                "add": {
                    "path": name,
                    "partitionValues": {"day": "2026-01-09"},
                    "size": 2**63 - 1,
                    "modificationTime": 1,
                    "dataChange": True,
                }
            }
        )

    assert len(files(acme.query(lake.path, {}))) > 2
    assert newest().size_bytes == 2**63 - 1
