"""Operations by the REST API: each as a preview, or for real."""

from pathlib import Path
from typing import Final
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs import kinds
from apps.jobs.models import Job
from apps.tables.models import Grant, Table
from apps.tables.operations.operation import operations
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import SCHEMA, Work
from tests.support.pages.factories import (
    NOW,
    new_api_key,
    new_grant_of_right,
    new_table,
    new_user,
)
from tests.support.pages.rest import refusal
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db
THERE = "/api/v1/tables/default/orders/operations"
JSON = "application/json"
OF_NO_TABLE = {"convert_folder", "create_table"}
"""Those that make tables: their addresses are beside the list of tables."""


@pytest.fixture
def eve() -> Client:
    return Client(headers=new_api_key(new_user("eve", role=User.Role.EDITOR)))


def test_every_operation_of_a_table_has_an_address(client: Client):
    kinds.all_kinds()
    paths = client.get("/api/openapi.json").json()["paths"]
    below = "/api/v1/tables/{namespace}/{name}/operations/"

    found = {path.removeprefix(below) for path in paths if path.startswith(below)}

    assert found == {one.name for one in operations} - OF_NO_TABLE


@pytest.mark.usefixtures("orders")
class TestARestore:
    def test_is_looked_at_first(self, eve: Client, work: Work, folder: Path):
        body = {"parameters": {"version": 1}}

        answer = eve.post(f"{THERE}/restore", body, content_type=JSON)
        job = work()

        assert answer.status_code == 202
        told = eve.get(answer["Location"]).json()
        assert told["id"] == answer.json()["job"]["id"] == str(job.id)
        assert told["result"]["counts"] == {"num_files_back": 0, "num_files_gone": 2}
        assert DeltaTable(str(folder)).latest_version() == 3
        assert not AuditEvent.objects.filter(action="table.restore").exists()

    def test_does_what_was_seen(self, eve: Client, work: Work, folder: Path):
        body = {"parameters": {"version": 1}, "preview": True}
        look = eve.post(f"{THERE}/restore", body, content_type=JSON).json()["job"]
        work()

        body = {"seen": look["id"], "preview": False}
        answer = eve.post(f"{THERE}/restore", body, content_type=JSON)
        done = work()

        assert (answer.status_code, done.state) == (202, Job.State.DONE), done.error
        table = DeltaTable(str(folder))
        assert table.latest_version() == 4
        assert table.snapshot().read().num_rows == 2
        event = AuditEvent.objects.get(action="table.restore")
        assert (event.actor, event.detail["version"]) == ("eve", 1)

    def test_is_done_at_once_where_nobody_wants_to_see(self, eve, work, folder):
        body = {"parameters": {"version": 1}, "preview": False}

        answer = eve.post(f"{THERE}/restore", body, content_type=JSON)
        done = work()

        assert (answer.status_code, done.state) == (202, Job.State.DONE), done.error
        assert DeltaTable(str(folder)).latest_version() == 4

    def test_is_not_done_at_another_version(self, eve, work, folder):
        body = {"parameters": {"version": 1}, "preview": False}
        eve.post(f"{THERE}/restore", body, content_type=JSON)
        refused = Job.objects.latest("created_at")
        rows = SCHEMA.empty_table().from_pylist([{"p": "c", "id": 7}], SCHEMA)
        DeltaTable(str(folder)).append(rows)

        work()

        refused.refresh_from_db()
        assert refused.error_code == "operation-outdated"
        assert DeltaTable(str(folder)).latest_version() == 4

        assert "since this was requested" in refused.error

    @pytest.mark.parametrize("name", ["restore", "merge_rows"])
    def test_is_done_at_a_version_that_is_not_indexed_yet(
        self, eve, work, folder, name
    ):
        rows = SCHEMA.empty_table().from_pylist([{"p": "c", "id": 7}], SCHEMA)
        DeltaTable(str(folder)).append(rows)
        file = SimpleUploadedFile("more.csv", b"p,id\nz,7\n")
        upload = eve.post("/api/v1/uploads", {"file": file}).json()["upload"]
        merge = {"on": "t.id = s.id", "update_all": True}
        merge["file"] = {"upload": upload, "name": "more.csv"}
        asked = {"restore": {"version": 1}, "merge_rows": merge}[name]
        body = {"parameters": asked, "preview": False}

        answer = eve.post(f"{THERE}/{name}", body, content_type=JSON)
        done = work()

        assert (answer.status_code, done.state) == (202, Job.State.DONE), done.error
        assert DeltaTable(str(folder)).latest_version() == 5

    def test_needs_a_look_that_there_is(self, eve: Client, orders: Table):
        body = {"seen": str(orders.id), "preview": False}

        answer = eve.post(f"{THERE}/restore", body, content_type=JSON)

        assert refusal(answer) == (409, "operation-outdated")


@pytest.mark.usefixtures("orders")
class TestAnyOperation:
    @pytest.mark.parametrize(
        ("name", "parameters"),
        [
            ("change_columns", {"way": "add", "name": "note", "type": "STRING"}),
            (
                "change_constraint",
                {"name": "positive", "sql": "id > 0", "upgrade": True},
            ),
            ("change_property", {"values": {"delta.appendOnly": "false"}}),
            ("clean_up_log", {}),
            ("delete_rows", {"where": "id = 10"}),
            ("describe", {"text": "What people buy."}),
            ("optimize", {}),
            ("update_rows", {"assignments": {"id": "id + 1"}, "where": "p = 'b'"}),
            ("vacuum", {}),
            ("write_checkpoint", {}),
        ],
    )
    def test_is_looked_at_and_done(self, eve, work: Work, name: str, parameters):
        body = {"parameters": parameters}

        look = eve.post(f"{THERE}/{name}", body, content_type=JSON)
        seen = work()
        told = {"preview": False, "seen": look.json()["job"]["id"]}
        answer = eve.post(f"{THERE}/{name}", {**body, **told}, content_type=JSON)
        done = work()

        assert (look.status_code, answer.status_code) == (202, 202)
        assert (seen.state, done.state) == (Job.State.DONE, Job.State.DONE), done.error
        assert done.result
        assert done.result["is_done"]

    @pytest.mark.parametrize(
        ("name", "parameters", "code"),
        [
            ("change_columns", {"way": "burn"}, "body-invalid"),
            ("change_columns", {}, "body-invalid"),
            ("optimize", {"were": "x"}, "unknown-parameter"),
            ("vacuum", {"hours": "nan"}, "body-invalid"),
            ("restore", {"version": "one"}, "body-invalid"),
            ("update_rows", {"assignments": [1]}, "body-invalid"),
        ],
    )
    def test_refuses(self, eve: Client, name: str, parameters: object, code: str):
        body = {"parameters": parameters}

        answer = eve.post(f"{THERE}/{name}", body, content_type=JSON)

        assert refusal(answer) == (400, code)

    def test_is_for_editors(self, client: Client):
        key = new_api_key(new_user("vera"))

        answer = client.post(f"{THERE}/optimize", {}, content_type=JSON, headers=key)

        assert refusal(answer) == (403, "permission-denied")

    def test_of_no_such_name_is_a_404(self, eve: Client):
        assert eve.post(f"{THERE}/burn", {}, content_type=JSON).status_code == 404


def test_a_table_that_is_not_indexed_is_left_alone(eve: Client, orders: Table):
    Table.objects.filter(id=orders.id).update(version=None)

    answer = eve.post(f"{THERE}/optimize", {}, content_type=JSON)

    assert refusal(answer) == (409, "not-indexed")


@pytest.mark.usefixtures("orders")
class TestAMerge:
    ON: Final[dict[str, object]] = {
        "on": "t.id = s.id",
        "update_all": True,
        "insert_all": True,
    }

    def test_of_a_file_is_looked_at_and_done(self, eve, work: Work, folder: Path):
        file = SimpleUploadedFile("more.csv", b"p,id\nz,10\nz,99\n")
        upload = eve.post("/api/v1/uploads", {"file": file}).json()["upload"]
        source: dict[str, object] = {"file": {"upload": upload, "name": "more.csv"}}
        body = {"parameters": {**self.ON, **source}}

        look = eve.post(f"{THERE}/merge_rows", body, content_type=JSON).json()["job"]
        seen = work()
        agreed = {"seen": look["id"], "preview": False}
        eve.post(f"{THERE}/merge_rows", agreed, content_type=JSON)
        done = work()

        assert seen.result, seen.error
        assert seen.result["counts"] == {
            "num_updated_rows": 1,
            "num_deleted_rows": 0,
            "num_inserted_rows": 1,
            "num_files": 1,
        }
        assert done.state == Job.State.DONE, done.error
        rows = DeltaTable(str(folder)).snapshot().read()
        assert (rows.num_rows, rows["p"].to_pylist().count("z")) == (7, 2)
        event = AuditEvent.objects.get(action="table.merge")
        assert (event.actor, event.detail["on"]) == ("eve", "t.id = s.id")

    def test_of_a_table_takes_its_newest_rows(self, eve, work, folder, tmp_path):
        gone = TableBuilder(tmp_path / "lake" / "gone").rows(id=[10, 20]).build()
        new_table("gone", location=gone.root)
        asked = {"on": "t.id = s.id", "table": "gone", "delete_where": "t.p = 'a'"}
        body = {"parameters": asked, "preview": False}

        eve.post(f"{THERE}/merge_rows", body, content_type=JSON)
        done = work()

        assert done.state == Job.State.DONE, done.error
        assert DeltaTable(str(folder)).snapshot().read().num_rows == 4

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({}, "merge-source-gone"),
            ({"role": User.Role.VIEWER}, "asker-lacks-right"),
            ({"is_active": False}, "asker-lacks-right"),
            (None, "asker-gone"),
        ],
    )
    def test_is_not_done_for_one_who_may_not_see_the_table_by_then(
        self, eve, work, folder, fields, code
    ):
        hidden = TableBuilder(folder.parent / "classified").columns(SCHEMA).build()
        secret = new_table("hr.classified", location=hidden.root, is_private=True)
        people = User.objects.filter(username="eve")
        grant = new_grant_of_right("view", secret, people.get())
        asked = {"on": "t.id = s.id", "table": "hr.classified", "update_all": True}
        body = {"parameters": asked, "preview": False}
        eve.post(f"{THERE}/merge_rows", body, content_type=JSON)
        Grant.objects.filter(id=grant.id).update(until=NOW)
        if fields is None:
            people.delete()
        elif fields:
            people.update(**fields)

        done = work()

        assert (done.error_code, DeltaTable(str(folder)).latest_version()) == (code, 3)
        script = Client(headers=new_api_key(new_user("vera")))
        told = script.get(f"/api/v1/jobs/{done.id}").content
        assert code.encode() in told
        assert b"classified" not in told

    @pytest.mark.parametrize(
        ("parameters", "status", "code"),
        [
            ({"on": "t.id = s.id", "table": "nowhere"}, 404, "table-not-found"),
            ({"on": "t.id = s.id", "table": "a.b.c"}, 422, "table-name-invalid"),
            (
                {**ON, "file": {"path": "/etc/passwd", "format": "csv"}},
                422,
                "location-not-allowed",
            ),
            (
                {**ON, "file": {"upload": str(UUID(int=0)), "name": "a.csv"}},
                404,
                "upload-gone",
            ),
            ({**ON}, 422, "import-file-unreadable"),
            ({**ON, "time_zone": "Mars"}, 422, "time-zone-unknown"),
            ({"on": "t.id = s.id", "table": "orders"}, 400, "body-invalid"),
            ({"onn": "t.id = s.id"}, 400, "unknown-parameter"),
        ],
    )
    def test_refuses(self, eve: Client, parameters: object, status: int, code: str):

        answer = eve.post(
            f"{THERE}/merge_rows", {"parameters": parameters}, content_type=JSON
        )

        assert refusal(answer) == (status, code)
        assert not Job.objects.filter(kind="tables.merge_rows").exists()
