"""Tables by REST: registered, changed, removed, read at any version."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.tables.models import Lake, StorageConnection, Table
from apps.tables.work.profile import PROFILE
from tests.functional.explore_a_table.test_column_page import PROFILE as FOUND
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_api_key,
    new_grant_of_right,
    new_table,
)
from tests.support.pages.operated import work_newest
from tests.support.pages.rest import refusal

pytestmark = pytest.mark.django_db
TABLES = "/api/v1/tables"
ORDERS = f"{TABLES}/sales/orders"
JSON = "application/json"


class TestRegistering:
    def test_looks_first_and_tells_the_job_where_nobody_does_it(
        self, eve: Client, lake: Path, settings
    ):
        settings.ALLOWED_ROOTS = [str(lake)]
        body = {"name": "sales.orders", "location": str(lake / "orders")}

        answer = eve.post(TABLES, body, content_type=JSON)

        assert answer.status_code == 202
        job = answer.json()["job"]
        assert (job["kind"], job["state"]) == ("tables.check_location", "QUEUED")
        assert eve.get(answer["Location"]).json()["id"] == job["id"]
        assert not Table.objects.exists()

    @cases(
        "body, status, code",
        {
            "nothing": ({}, 400, "body-invalid"),
            "a misspelt key": ({"name_of": "a"}, 400, "unknown-parameter"),
            "a list": ([], 400, "body-invalid"),
            "no name": ({"name": "a.b.c", "location": "/x"}, 422, "table-name-invalid"),
            "taken": ({"name": "taken", "location": "/x"}, 409, "table-name-taken"),
            "outside of the roots": (
                {"name": "a", "location": "/etc"},
                422,
                "location-not-allowed",
            ),
            "no such connection": (
                {"name": "a", "location": "s3://b/t", "connection": "no"},
                404,
                "storage-not-found",
            ),
            "another connection": (
                {"name": "a", "location": "s3://b/t", "connection": "minio"},
                422,
                "storage-elsewhere",
            ),
        },
    )
    def test_refuses(self, eve: Client, body: object, status: int, code: str):
        new_table("taken")
        StorageConnection.objects.create(
            name="minio",
            prefix="s3://other",
            sealed="",
            created_at=NOW,
            updated_at=NOW,
        )

        answer = eve.post(TABLES, body, content_type=JSON)

        assert refusal(answer) == (status, code)

    def test_is_for_editors(self, vera: Client):
        answer = vera.post(TABLES, {}, content_type=JSON)

        assert refusal(answer) == (403, "permission-denied")

    @cases(
        "sent, content_type, status",
        {
            "half a body": (b"{", JSON, 400),
            "a deep one": (b"[" * 100_000, JSON, 400),
            "not a number": (b'{"name": NaN}', JSON, 400),
            "half a character": (rb'{"name": "\ud800"}', JSON, 400),
            "a NUL": (rb'{"\u0000": 1}', JSON, 400),
            "no UTF-8": (b"\xff", JSON, 400),
            "no JSON": (b"name=a", "text/plain", 415),
        },
    )
    def test_does_not_read(self, eve, sent: bytes, content_type: str, status: int):
        answer = eve.post(TABLES, sent, content_type=content_type)

        assert answer.status_code == status
        assert answer.json()["request_id"]


def test_a_scan_is_a_job_of_a_lake(eve: Client, lake: Path, settings):
    settings.ALLOWED_ROOTS = [str(lake)]

    answer = eve.post(f"{TABLES}/scan", {"url": str(lake)}, content_type=JSON)
    done = work_newest()

    assert (answer.status_code, done.state) == (202, Job.State.DONE)
    assert eve.get(answer["Location"]).json()["result"]["found"] > 0
    lakes = eve.get("/api/v1/lakes").json()
    assert [one["url"] for one in lakes["lakes"]] == [str(lake)]
    there = f"/api/v1/lakes/{lakes['lakes'][0]['id']}"
    eve.patch(there, {"schedule": "1h"}, content_type=JSON)
    assert eve.get(there).json()["schedule"] == "1h"
    assert eve.delete(there).status_code == 204
    assert not Lake.objects.exists()


class TestATable:
    def test_is_changed_and_recorded(self, eve: Client, orders: Table):
        refused = eve.patch(ORDERS, {"restricted": True}, content_type=JSON)
        assert refusal(refused) == (403, "permission-denied")
        owner = User.objects.get(username="eve")
        new_grant_of_right("own", orders, owner)
        by_writer = eve.patch(ORDERS, {"restricted": True}, content_type=JSON)
        assert refusal(by_writer) == (403, "scope-required")

        by_admin = Client(headers=new_api_key(owner, ["read", "write", "admin"]))
        answer = by_admin.patch(ORDERS, {"restricted": True}, content_type=JSON)

        assert (answer.status_code, answer.json()["restricted"]) == (200, True)
        assert answer.json()["description"] == orders.about
        assert AuditEvent.objects.get(action="table.hide").actor == "eve"

    def test_is_removed(self, eve: Client, orders: Table):
        assert eve.delete(ORDERS).status_code == 204
        assert not Table.objects.filter(id=orders.id).exists()

    def test_that_is_restricted_is_a_404_for_viewers(self, vera, orders: Table):
        Table.objects.filter(id=orders.id).update(is_private=True)

        answer = vera.get(f"{ORDERS}/versions")

        assert refusal(answer) == (404, "table-not-found")

    def test_lists_its_versions_by_pages(self, vera: Client, orders: Table):
        page = vera.get(f"{ORDERS}/versions").json()
        found = page["commits"]
        while page["next"]:
            page = vera.get(page["next"]).json()
            found += page["commits"]

        newest = orders.version or 0
        assert [one["version"] for one in found] == [*range(newest, -1, -1)]

    def test_tells_its_schema_and_files(self, vera: Client, orders: Table):
        schema = vera.get(f"{ORDERS}/schema").json()
        files = vera.get(f"{ORDERS}/files").json()

        assert schema["count"] == len(schema["columns"]) > 0
        assert files["num_files"] == orders.num_files

    @pytest.mark.usefixtures("orders")
    def test_reads_rows_by_a_job(self, vera: Client):
        waiting = vera.get(f"{ORDERS}/rows")
        done = work_newest()
        answer = vera.get(f"{ORDERS}/rows")

        assert (waiting.status_code, waiting.json()["job"]["id"]) == (202, str(done.id))
        assert answer.status_code == 200
        assert answer.json()["rows"]

    @pytest.mark.usefixtures("orders")
    def test_reads_as_many_rows_as_a_limit_says(self, vera: Client):
        def read(query: str) -> dict[str, Any]:
            vera.get(f"{ORDERS}/rows{query}")
            work_newest()
            return vera.get(f"{ORDERS}/rows{query}").json()

        every = read("?limit=500")["rows"]
        first = read("?limit=3")
        second = vera.get(first["next"]).json()
        across_blocks = read("?limit=3&page=167")

        assert first["rows"] == every[:3]
        assert second["rows"] == every[3:6]
        assert across_blocks["rows"][:2] == every[498:]

    @pytest.mark.usefixtures("orders")
    @pytest.mark.parametrize("limit", ["0", "501", "x", "-1", "1e2"])
    def test_refuses_a_limit_that_is_no_number_of_rows(self, vera: Client, limit):
        answer = vera.get(f"{ORDERS}/rows?limit={limit}")

        assert answer.status_code == 400
        assert answer.json()["error"] == "query-invalid"
        assert "1 to 500" in answer.json()["hint"]

    @pytest.mark.usefixtures("orders")
    def test_compares_rows_once_that_is_asked_for(self, vera: Client):
        asked = vera.post(f"{ORDERS}/diff?from=0&to=1")
        done = work_newest()
        vera.get(f"{ORDERS}/diff?from=0&to=1&view=rows")
        work_newest()
        told = vera.get(f"{ORDERS}/diff?from=0&to=1&view=rows").json()

        assert asked.status_code == 202
        assert done.state == Job.State.DONE, done.error
        assert told["rows"]["inserted"] > 0


class TestTheTagOfAVersion:
    @pytest.mark.usefixtures("orders")
    @pytest.mark.parametrize("path", ["", "/schema", "/files", "/versions/1"])
    def test_answers_304_to_who_has_it(self, vera: Client, path: str):
        newest = Table.objects.get(name="orders").version
        query = "" if "versions" in path else f"?version={newest}"
        first = vera.get(f"{ORDERS}{path}{query}")

        again = vera.get(
            f"{ORDERS}{path}{query}", headers={"If-None-Match": first["ETag"]}
        )

        assert (first.status_code, again.status_code) == (200, 304)
        assert again.content == b""

    @pytest.mark.usefixtures("orders")
    def test_is_another_of_another_version_and_none_of_the_newest(self, vera: Client):
        tags = {vera.get(f"{ORDERS}/schema?v={v}")["ETag"] for v in (0, 1)}

        assert len(tags) == 2
        assert "ETag" not in vera.get(f"{ORDERS}/schema")


@pytest.mark.usefixtures("orders")
def test_a_column_is_profiled_where_it_is_told_of(vera: Client) -> None:
    there = "/api/v1/tables/sales/orders/schema/order_id"

    asked = vera.post(f"{there}?v=1")
    # As Spark does it: tests/spark says what it finds.
    Job.objects.filter(kind=PROFILE.name).update(
        state=Job.State.DONE, result=FOUND, finished_at=NOW
    )
    told = vera.get(f"{there}?v=1").json()
    unknown = vera.post("/api/v1/tables/sales/orders/schema/nothing")

    assert asked.status_code == 202
    assert (told["column"]["path"], told["profile"]) == ("order_id", FOUND)
    assert unknown.status_code == 404


@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tables/sales/orders/schema-lanes", "lanes"),
        ("tables/sales/orders/use", "snippets"),
        ("search?q=orders", "tables"),
        ("dashboard", "tables"),
        ("me", "keys"),
    ],
)
def test_what_pages_show_is_answered(vera: Client, path: str, name: str) -> None:
    found = vera.get(f"/api/v1/{path}").json()

    assert found[name], found
