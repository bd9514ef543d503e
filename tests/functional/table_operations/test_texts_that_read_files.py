"""SQL of an editor cannot read the files of the server, in any operation."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.models import User
from apps.jobs.models import Job
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import Work
from tests.support import cases
from tests.support.files.watched_files import Watched, watched
from tests.support.pages.factories import new_api_key, new_user

pytestmark = pytest.mark.django_db
THERE = "/api/v1/tables/default/orders/operations"
JSON = "application/json"
QUERY = "(SELECT max(value) FROM text.`{file}`)"
T = TypeVar("T")
MERGED = {"update_all": True, "insert_all": True}


@pytest.fixture
def eve() -> Client:
    return Client(headers=new_api_key(new_user("eve", role=User.Role.EDITOR)))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Watched]:
    with watched(tmp_path / "of_others") as place:
        yield place


def _filled(value: T, place: Watched) -> T:
    found: T = json.loads(json.dumps(value).replace("{file}", str(place.file)))
    return found


@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize("preview", [True, False])
@cases(
    "name, parameters",
    {
        "a value": (
            "update_rows",
            {"assignments": {"p": QUERY}, "where": "id = 10"},
        ),
        "an update's condition": (
            "update_rows",
            {"assignments": {"p": "'x'"}, "where": f"p = {QUERY}"},
        ),
        "by Spark": (
            "update_rows",
            {"assignments": {"p": QUERY}, "where": "hash(id) = 1"},
        ),
        "a method of Java": (
            "update_rows",
            {
                "assignments": {
                    "p": "reflect('java.nio.file.Files', 'readString', '{file}')"
                }
            },
        ),
        "a delete": ("delete_rows", {"where": f"p = {QUERY}"}),
        "a document type": (
            "delete_rows",
            {"where": "xpath_string('<!DOCTYPE a SYSTEM \"{file}\"><a/>', 'a') = p"},
        ),
        "a merge": ("merge_rows", {"on": f"t.id = s.id AND t.p < {QUERY}", **MERGED}),
        "a merge's delete": (
            "merge_rows",
            {"on": "t.id = s.id", "delete_where": f"t.p < {QUERY}"},
        ),
        "a rule": (
            "change_constraint",
            {"name": "told", "sql": f"p <> {QUERY}", "upgrade": True},
        ),
    },
)
def test_a_text_with_a_query_fails(  # noqa: PLR0913, PLR0917  # what is asked
    eve, work: Work, folder: Path, place: Watched, name, parameters, preview
):
    if name == "merge_rows":
        file = SimpleUploadedFile("more.csv", b"p,id\nz,10\nz,99\n")
        upload = eve.post("/api/v1/uploads", {"file": file}).json()["upload"]
        parameters = {**parameters, "file": {"upload": upload, "name": "more.csv"}}
    body = {"parameters": _filled(parameters, place), "preview": preview}

    answer = eve.post(f"{THERE}/{name}", body, content_type=JSON)
    job = work() if answer.status_code == 202 else None

    if job is None:
        assert answer.json()["code"] == "expression-not-of-row"
    else:
        assert (job.state, job.error_code) == (
            Job.State.FAILED,
            "expression-not-of-row",
        )
    assert DeltaTable(str(folder)).latest_version() == 3
    assert place.accesses() == []


@pytest.mark.usefixtures("orders")
def test_a_rule_of_another_writer_fails(
    eve: Client, work: Work, folder: Path, place: Watched
) -> None:
    """An expression in the log has whoever wrote the log as its author."""
    table = DeltaTable(str(folder))
    metadata = next(one for one in table.read_commit(0) if "metaData" in one)
    rule = {"delta.constraints.told": _filled(f"p <> {QUERY}", place)}
    metadata["metaData"]["configuration"].update(rule)
    protocol = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 3}}
    path = folder / "_delta_log" / f"{4:020}.json"
    path.write_text(f"{json.dumps(protocol)}\n{json.dumps(metadata)}\n")
    body = {"parameters": {"assignments": {"p": "'x'"}}, "preview": True}

    eve.post(f"{THERE}/update_rows", body, content_type=JSON)
    job = work()

    assert (job.state, job.error_code) == (Job.State.FAILED, "expression-not-of-row")
    assert place.accesses() == []
