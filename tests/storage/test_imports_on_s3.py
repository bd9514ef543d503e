"""Files of an object store are imported: by the command, and on the page."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.support.pages.answers import newest_job_done
from tests.support.stores.s3_server import S3Server

pytestmark = pytest.mark.django_db
NEW = "/tables/new/import"


@pytest.fixture(scope="module")
def bucket(s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A bucket with a file of each format below a name that is to be quoted."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "a 1.csv").write_text("n;s\n1;one\n2;two\n")
    (folder / "b.jsonl").write_text('{"n": 3, "s": "three"}\n')
    pq.write_table(pa.table({"n": [4], "s": ["four"]}), folder / "c.parquet")
    name = s3.new_bucket()
    s3.upload(folder, name, "in tray")
    return name


@pytest.fixture
def folder(s3: S3Server, bucket: str, settings: Settings, tmp_path: Path) -> str:
    """The URL of its folder; a storage connection says how it is reached."""
    settings.HOME = tmp_path / "home"
    settings.ALLOWED_ROOTS = [str(tmp_path)]
    options = [part for text in s3.option_texts for part in ("--option", text)]
    _run("storage", "add", "tray", "--prefix", f"s3://{bucket}/", *options)
    return f"s3://{bucket}/in tray"


def _run(*arguments: object) -> str:
    out = io.StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def _rows(location: str) -> list[dict[str, Any]]:
    return sorted(DeltaTable(location).snapshot().read().to_pylist(), key=str)


def test_the_command_reads_every_format(folder: str, tmp_path: Path) -> None:
    files = [f"{folder}/{name}" for name in ("a 1.csv", "b.jsonl", "c.parquet")]

    told = json.loads(_run("table", "import", tmp_path / "t", *files, "--json"))

    assert (told["version"], told["num_rows_written"]) == (0, 4)
    words = ["one", "two", "three", "four"]
    assert _rows(str(tmp_path / "t")) == [
        {"n": n, "s": word} for n, word in enumerate(words, 1)
    ]


def test_a_file_there_is_merged_by_its_url(folder: str, tmp_path: Path) -> None:
    _run("table", "import", tmp_path / "t", f"{folder}/c.parquet")
    merge = ("table", "merge", tmp_path / "t", f"{folder}/a 1.csv", "--on", "t.n = s.n")

    told = json.loads(_run(*merge, "--insert-all", "--json"))

    assert (told["version"], told["num_rows_inserted"]) == (1, 2)


def test_what_is_wrong_is_named_with_its_place(folder, tmp_path, settings):
    place = tmp_path / "t"
    with pytest.raises(
        CommandError, match=rf"{folder}/gone\.csv cannot.* no such file"
    ):
        _run("table", "import", place, f"{folder}/gone.csv")
    with pytest.raises(CommandError, match="names no file"):
        _run("table", "import", place, "s3://alone", "--format", "csv")
    with pytest.raises(CommandError, match=r"c\.parquet cannot be imported"):
        _run("table", "import", place, f"{folder}/c.parquet", "--format", "csv")
    settings.ALLOWED_ROOTS = [str(tmp_path), "s3://elsewhere/"]
    with pytest.raises(CommandError, match=r"s3://others/a\.csv"):
        _run("table", "import", place, "s3://others/a.csv")
    assert not place.exists()


def test_the_page_imports_a_file_under_a_connection(editor, folder, tmp_path):
    asked = {"name": "s3.rows", "location": f"{tmp_path}/t"}
    came = editor.post(NEW, {**asked, "path": f"{folder}/a 1.csv"})
    look = newest_job_done()
    page = editor.get(came.headers["Location"]).content.decode()
    assert "Import 2 rows" in page
    assert "a 1.csv" in page

    editor.post(NEW, {"seen": look.id})
    assert newest_job_done().state == Job.State.DONE

    table = Table.objects.get(namespace="s3", name="rows")
    assert [row["s"] for row in _rows(table.location)] == ["one", "two"]


def test_the_page_refuses_a_store_that_is_not_allowed(editor, folder, tmp_path):
    asked = {"name": "s3.rows", "location": f"{tmp_path}/t"}

    refused = editor.post(NEW, {**asked, "path": "s3://others/a.csv"})
    assert "s3://others/a.csv" in refused.content.decode()
    assert not Job.objects.filter(kind="tables.import_rows").exists()

    editor.post(NEW, {**asked, "path": f"{folder}/gone.csv"})
    failed = newest_job_done()
    assert failed.state == Job.State.FAILED
    assert f"{folder}/gone.csv" in failed.error
