"""A Parquet file of no table: a place is asked for, a job looks, a page shows it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.models import Job
from tests.support import cases
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.factories import signed_in

pytestmark = pytest.mark.django_db
PLACE = "/parquet"


@pytest.fixture(autouse=True)
def root(settings: Settings, tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    root = tmp_path / "lake"
    root.mkdir()
    settings.ALLOWED_ROOTS = [str(root)]
    return root


@pytest.fixture
def admin() -> Client:
    return signed_in("ada", role=User.Role.ADMIN)


@pytest.fixture
def file(root: Path) -> Path:
    path = root / "a b%20é.parquet"
    table = pa.table({"n": range(6), "name": ["a", "b", None, "d", "e", "f"]})
    pq.write_table(
        table.replace_schema_metadata({"why": "x" * 3_000}), path, row_group_size=2
    )
    return path


def work() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        kinds.all_kinds()[job.kind].work(job.id)


def test_a_place_is_asked_for(editor: Client) -> None:
    page = text_of(editor, PLACE)

    assert "Inspect a Parquet file" in page
    assert 'name="location"' in page
    assert not Job.objects.exists()


def test_the_file_is_shown_when_a_job_has_looked(editor: Client, file: Path) -> None:
    query = {"location": str(file)}
    assert "Reading the footer of the file" in editor.get(PLACE, query).text
    work()

    page = editor.get(PLACE, {**query, "column": "0"}).text
    assert "Bytes by column" in page
    assert 'data-chart="group-bytes"' in page
    assert "Row group 0" in page
    assert "a range in every row group" in page
    assert " style=" not in page
    headers = {"HX-Request": "true", "HX-Target": "file-group"}
    part = editor.get(PLACE, {**query, "group": "2"}, headers=headers)
    assert "Row group 2" in part.text
    assert "<html" not in part.text


def test_a_condition_says_which_row_groups_it_reads(editor: Client, file: Path) -> None:
    query = {"location": str(file), "column": "0", "op": "ge", "a": "4"}
    editor.get(PLACE, query)
    work()

    page = editor.get(PLACE, query).text
    assert "1 of 3 row groups" in page
    assert "are skipped because of the statistics in the footer" in page
    assert "skipped: its greatest value is 1" in page
    assert "pale ones are skipped" in page
    found = editor.get(f"{PLACE}.json", query).json()["column"]
    assert found["tried"]["num_read"] == 1
    assert [one["tried"]["is_read"] for one in found["row_groups"]] == [
        *(False, False, True)
    ]
    odd = editor.get(PLACE, {**query, "a": "x"}).text
    assert "This column is of numbers; the value is not." in odd
    assert editor.get(PLACE, {**query, "op": "like"}).status_code == 400


def test_rows_and_whole_texts_are_given(editor: Client, file: Path) -> None:
    query = {"location": str(file), "rows": "1"}
    editor.get(f"{PLACE}.json", query)
    work()

    found = editor.get(f"{PLACE}.json", query).json()
    assert found["rows"][1] == {"n": 1, "name": "b"}
    assert len(found["row_groups"]) == 3
    assert len(editor.get(f"{PLACE}/text/0", query).content) == 3_000
    assert "long" in editor.get(f"{PLACE}/text/delta", query).text


def test_another_file_at_the_place_is_seen_when_one_looks_again(editor, file):
    query = {"location": str(file)}
    editor.get(PLACE, query)
    work()
    pq.write_table(pa.table({"newer": [1]}), file)
    assert "newer" not in editor.get(PLACE, query).text

    editor.post(f"{PLACE}/again", query)
    work()

    assert "newer" in editor.get(PLACE, query).text


@pytest.mark.parametrize(
    "location",
    ["/etc/passwd", "relative.parquet", "s3://bucket/a.parquet", "http://x/a.parquet"],
)
def test_a_place_that_may_not_be_registered_is_refused(editor: Client, location: str):
    answer = editor.get(PLACE, {"location": location})

    assert answer.status_code == 422
    assert "dw-error-text" in answer.text
    assert not Job.objects.exists()


def test_a_link_out_of_the_roots_is_refused(editor: Client, root: Path, tmp_path: Path):
    (tmp_path / "secret.parquet").write_bytes(b"PAR1")
    (root / "link.parquet").symlink_to(tmp_path / "secret.parquet")

    answer = editor.get(PLACE, {"location": str(root / "link.parquet")})

    assert answer.status_code == 422


@cases(
    "name, sentence",
    {
        "missing": ("gone.parquet", "does not exist"),
        "of no format": ("text.parquet", "This is not a Parquet file"),
        "a folder": ("", ""),
    },
)
def test_what_is_no_file_is_said(editor: Client, root: Path, name: str, sentence: str):
    (root / "text.parquet").write_text("a,b\n" * 9)
    query = {"location": str(root / name)}
    editor.get(PLACE, query)
    work()

    answer = editor.get(PLACE, query)

    assert answer.status_code == 200
    assert "The file could not be read" in answer.text
    assert sentence in answer.text
    assert editor.get(f"{PLACE}.json", query).status_code == 422


def test_viewers_may_not_look_where_they_may_not_register(viewer: Client, file: Path):
    assert viewer.get(PLACE, {"location": str(file)}).status_code == 403
    assert viewer.post(f"{PLACE}/again", {"location": str(file)}).status_code == 403
    assert not Job.objects.exists()


def test_another_users_look_is_not_shown(editor: Client, admin: Client, file: Path):
    query = {"location": str(file)}
    editor.get(PLACE, query)
    work()

    assert json_of(admin, f"{PLACE}.json?location={file}", 202)
    assert admin.get(f"{PLACE}/text/0", query).status_code == 404
