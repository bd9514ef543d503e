"""The page of every recorded Parquet file: shown, or refused in words, never broken."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.work.inspect_file import INSPECT_FILE
from apps.tables.work.preview_file import PREVIEW_FILE
from tests.support import cases
from tests.support.golden.recorded import file_record, parquet_files
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol
from tests.support.pages.factories import signed_in

pytestmark = pytest.mark.django_db
PAGE = "/t/default/files/files/"
MAX_HTML_BYTES = 250_000
SHOWN = {"schema_ok", "schema_ok_data_error"}
KNOWN = ["pages_of_zeros", "pyarrow_plain", "page_claims_negative", "pa_primitives"]
STEMS = {Path(name).stem for name in [*parquet_files(), *parquet_files("bad")]}
SHOWN_ROWS = [name for name in KNOWN if name in STEMS]


def _table_of(files: list[Path], folder: Path) -> None:
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    actions = [protocol(), metadata()]
    for file in files:
        shutil.copy(file, folder)
        actions.append(add(quote(file.name), size=file.stat().st_size))
    (log / "00000000000000000000.json").write_bytes(commit_bytes(*actions))
    new_indexed_table("files", folder)


@pytest.fixture
def viewer(settings: Settings, tmp_path: Path) -> Client:
    settings.HOME = tmp_path / "home"
    return signed_in()


def _page(viewer: Client, name: str, query: str = "") -> str:
    response = viewer.get(f"{PAGE}{quote(name)}{query}")
    assert response.status_code == 200, (name, response.content[:300])
    assert len(response.content) < MAX_HTML_BYTES, name
    text = response.content.decode()
    assert " style=" not in text, name
    assert "<script>" not in text, name
    return text


def _work() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        kind = INSPECT_FILE if job.kind == INSPECT_FILE.name else PREVIEW_FILE
        kind.work(job.id)


def _kinds(node: dict[str, Any]) -> Iterator[str]:
    kinds = ("repetition", "physical_type", "logical_type", "converted_type")
    yield " ".join(str(node.get(kind)) for kind in kinds)
    for child in node.get("children") or ():
        yield from _kinds(child)


def _of_each_kind() -> list[Path]:
    """Few files, which have every kind of column between them."""
    kinds = {
        file: {*_kinds(file_record(file)["schema"])}
        for file in parquet_files().values()
    }
    missing = set[str]().union(*kinds.values())
    found = []
    while missing:
        file = max(kinds, key=lambda file: len(missing & kinds[file]))
        missing -= kinds.pop(file)
        found.append(file)
    return found


CHOICES = {
    "of each kind of column": _of_each_kind,
    "all": lambda: [*parquet_files().values()],
}


@cases("choose", CHOICES, often=["of each kind of column"])
def test_a_file_shows_its_footer(viewer: Client, tmp_path: Path, choose) -> None:
    files = choose()
    _table_of(files, tmp_path / "table")

    for file in files:
        assert viewer.get(f"{PAGE}{quote(file.name)}.json").status_code == 202
        _work()
        page = _page(viewer, file.name, "?column=0&as=delta")
        answer = viewer.get(f"{PAGE}{quote(file.name)}.json")

        expected = file_record(file)
        footer = json.loads(answer.content)["footer"]
        assert answer.status_code == 200, file.name
        assert {name: footer[name] for name in ("num_rows", "num_row_groups")} == {
            name: expected[name] for name in ("num_rows", "num_row_groups")
        }, file.name
        assert footer["format_version"] == expected["version"]
        if "partial" not in expected:
            has_error = "delta_error" in expected
            assert bool(footer["num_delta_reasons"]) == has_error
        assert "Key-value metadata" in page


def _of_each_fault() -> list[Path]:
    """A bad file of each kind and outcome."""
    found: dict[tuple[str, str], Path] = {}
    for file in parquet_files("bad").values():
        said = file_record(file)
        found.setdefault((said["kind"], said["expect"]), file)
    return [*found.values()]


BAD = {"of each fault": _of_each_fault, "all": lambda: [*parquet_files("bad").values()]}


@cases("choose", BAD, often=["of each fault"])
def test_a_bad_file_is_shown_or_refused_in_words(viewer, tmp_path: Path, choose):
    files = choose()
    _table_of(files, tmp_path / "table")

    for file in files:
        viewer.get(f"{PAGE}{quote(file.name)}.json")
        _work()
        page = _page(viewer, file.name)
        answer = viewer.get(f"{PAGE}{quote(file.name)}.json")

        outcome = file_record(file)["expect"]
        refused = "The file could not be read" in page
        assert answer.status_code == (422 if refused else 200), file.name
        if outcome in SHOWN:
            assert not refused, file.name
        if outcome == "error":
            assert refused, file.name
        if refused:
            error = json.loads(answer.content)
            assert error["error"].startswith("parquet-"), (file.name, error)


@pytest.mark.parametrize("name", SHOWN_ROWS)
def test_rows_are_shown_or_refused_in_words(viewer: Client, tmp_path: Path, name: str):
    files = [*parquet_files("bad").values(), *parquet_files().values()]
    found = [file for file in files if file.stem == name]
    _table_of(found, tmp_path / "table")
    _page(viewer, found[0].name, "?rows=1")
    _work()

    page = _page(viewer, found[0].name, "?rows=1")

    is_bad = found[0].parent.name == "bad"
    assert ("The rows could not be read" in page) == is_bad
    assert "Row groups" in page
