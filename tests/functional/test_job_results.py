"""The page of a finished job leads to its result."""

import pytest
from django.test import Client

from apps.jobs.models import Job
from tests.support.pages.factories import (
    new_job,
    new_metadata,
    new_protocol,
    new_table,
    new_user,
)

pytestmark = pytest.mark.django_db
TABLE = "/t/sales/orders/"


def done(kind: str, **parameters: object) -> Job:
    table = new_table("sales.orders")
    new_protocol(table)
    new_metadata(table)
    return new_job(
        kind=kind, state=Job.State.DONE, subject_id=table.id, parameters=parameters
    )


@pytest.mark.parametrize(
    ("kind", "parameters", "url"),
    [
        ("tables.index_log", {}, TABLE),
        ("tables.list_version_files", {"version": 1}, f"{TABLE}files?v=1"),
        ("tables.diff_files", {"from": 0, "to": 2}, f"{TABLE}compare/0...2"),
        (
            "tables.diff_rows",
            {"from": 0, "to": 2, "key": ["id", "note"]},
            f"{TABLE}compare/0...2?view=rows&key=id%2Cnote",
        ),
        (
            "tables.profile_column",
            {"version": 2, "column": ["id"]},
            f"{TABLE}schema/id?v=2",
        ),
    ],
)
def test_by_the_kind_of_the_job(editor, kind, parameters, url):
    job = done(kind, **parameters)

    page = editor.get(f"/jobs/{job.id}/").content.decode()

    assert editor.get(f"/jobs/{job.id}.json").json()["result_url"] == url
    assert f'href="{url.replace("&", "&amp;")}"' in page
    assert "See the result" in page
    assert editor.get(url).status_code == 200


@pytest.mark.parametrize("state", [Job.State.QUEUED, Job.State.FAILED])
def test_but_not_before_there_is_one(editor: Client, state: Job.State) -> None:
    job = done("tables.write_checkpoint", version=2)
    Job.objects.update(state=state)

    assert editor.get(f"/jobs/{job.id}.json").json()["result_url"] is None


def test_nor_for_viewers_where_its_page_is_for_editors(client: Client) -> None:
    client.force_login(new_user("vera"))
    job = done("tables.write_checkpoint", version=2)

    assert client.get(f"/jobs/{job.id}.json").json()["result_url"] is None


def test_nor_when_its_table_is_gone(editor: Client) -> None:
    job = new_job(kind="tables.index_log", state=Job.State.DONE)

    assert editor.get(f"/jobs/{job.id}.json").json()["result_url"] is None
