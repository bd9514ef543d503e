"""Parquet files in an object store: by the commands, and by the page of a place."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.models import Job
from tests.support.pages.factories import signed_in
from tests.support.stores.s3_server import S3Server

pytestmark = pytest.mark.django_db
PLACE = "/parquet"


@pytest.fixture(scope="module")
def bucket(s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A bucket with two files below a name that is to be quoted."""
    folder = tmp_path_factory.mktemp("files")
    table = pa.table({"n": range(6), "name": list("abcdef")})
    pq.write_table(table, folder / "a 1.parquet", row_group_size=2)
    pq.write_table(pa.table({"more": [1.5]}), folder / "b.parquet")
    (folder / "text.parquet").write_text("a,b\n" * 9)
    name = s3.new_bucket()
    s3.upload(folder, name, "lake of sales/k=1")
    return name


@pytest.fixture
def folder(s3: S3Server, bucket: str, settings: Settings, tmp_path: Path) -> str:
    """The URL of its folder; a storage connection says how it is reached."""
    settings.HOME = tmp_path / "home"
    settings.ALLOWED_ROOTS = []
    options = [part for text in s3.option_texts for part in ("--option", text)]
    _run("storage", "add", "lake", "--prefix", f"s3://{bucket}/", *options)
    return f"s3://{bucket}/lake of sales/k=1"


def _run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def _run_json(*arguments: str) -> Any:  # noqa: ANN401 (any document)
    return json.loads(_run(*arguments, "--json"))


def test_show_and_rows_read_a_file_by_ranges(folder: str) -> None:
    file = f"{folder}/a 1.parquet"

    assert _run_json("parquet", "show", file)["num_row_groups"] == 3
    rows = _run_json("parquet", "rows", file, "--row-group", "1")
    assert rows == [{"n": 2, "name": "c"}, {"n": 3, "name": "d"}]


def test_schema_merges_the_files_of_a_folder(folder: str) -> None:
    with pytest.raises(CommandError, match=r"text\.parquet: This is not a Parquet"):
        _run("parquet", "schema", folder)

    schema = _run_json("parquet", "schema", f"{folder}/a 1.parquet")
    assert [field["name"] for field in schema["fields"]] == ["n", "name"]


@pytest.mark.parametrize("verb", ["show", "rows", "schema"])
def test_what_is_not_there_is_named(folder: str, verb: str) -> None:
    with pytest.raises(CommandError, match=r"gone\.parquet"):
        _run("parquet", verb, f"{folder}/gone.parquet")


def test_a_scheme_that_no_store_has_is_refused() -> None:
    with pytest.raises(CommandError, match="not a kind of storage"):
        _run("parquet", "show", "https://example.test/a.parquet")


def test_the_page_shows_a_file_below_a_connection(folder: str) -> None:
    client = signed_in("eve", role=User.Role.EDITOR)
    query = {"location": f"{folder}/a 1.parquet", "rows": "1"}
    assert client.get(PLACE, query).status_code == 200
    for job in Job.objects.filter(state=Job.State.QUEUED):
        kinds.all_kinds()[job.kind].work(job.id)

    found = client.get(f"{PLACE}.json", query).json()
    assert len(found["rows"]) == 6
    assert len(found["row_groups"]) == 3
    elsewhere = client.get(PLACE, {"location": "s3://another/a.parquet"})
    assert elsewhere.status_code == 422
