"""Footers that Spark's tasks add up: the same sums as in process."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from apps.jobs.models import Job
from apps.jobs.results import job_rows
from apps.tables.work import survey_files as work
from apps.tables.work.survey_files import SURVEY_FILES, FileSurvey
from deltaweb.index.file_survey import survey_files, surveyed_columns
from deltaweb.parquet.inspection.survey import Survey
from deltaweb.spark.data_files import survey as file_survey
from deltaweb.spark.data_files.shares import LISTED_FILES, VersionRequest
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.functional.command_line import run_json
from tests.support.files.mixed_files import write_mixed_table
from tests.support.pages.factories import NOW, new_table


def _sums(table: pa.Table) -> set[tuple[Any, ...]]:
    names = [name for name in table.column_names if name != "example"]
    return {tuple(row.values()) for row in table.select(names).to_pylist()}


def _in_process(folder: Path) -> pa.Table:
    table = DeltaTable(str(folder))
    snapshot = table.snapshot()
    survey = Survey(surveyed_columns(snapshot.schema, ()))
    paths = snapshot.files["path"].to_pylist()
    survey_files(survey, paths, table.store.open_data_file)
    return pa.Table.from_batches([survey.batch()])


@pytest.mark.parametrize(
    "num_files",
    [
        pytest.param(4, id="listed by the driver"),
        pytest.param(LISTED_FILES + 1, id="listed by tasks"),
    ],
)
def test_tasks_add_up_what_one_process_does(spark, tmp_path, num_files):
    folder = write_mixed_table(tmp_path / "mixed")
    request = VersionRequest(
        place=TablePlace(str(folder)), version=0, num_files=num_files
    )

    found = file_survey.survey_version(spark, request, lambda _done, _total: None)

    assert _sums(found) == _sums(_in_process(folder))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("spark")
def test_the_job_leaves_the_sums_of_many_files(tmp_path, settings, monkeypatch):
    settings.HOME = tmp_path / "home"
    monkeypatch.setattr(work, "IN_PROCESS_FILES", 0)
    folder = write_mixed_table(tmp_path / "mixed")
    table = new_table("mixed", location=str(folder), version=0)
    job = SURVEY_FILES.request(table, FileSurvey(version=0), now=NOW)

    SURVEY_FILES.work(job.id)

    job = Job.objects.get()
    found = job_rows(SURVEY_FILES, job)
    assert job.state == Job.State.DONE
    assert found is not None
    assert found.facts.engine == "Spark"
    assert _sums(found.rows) == _sums(_in_process(folder))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("spark")
def test_the_command_reads_many_files_by_spark(tmp_path, settings, monkeypatch):
    settings.HOME = tmp_path / "home"
    folder = write_mixed_table(tmp_path / "mixed")
    few = run_json("table", "survey", folder)
    monkeypatch.setattr(work, "IN_PROCESS_FILES", 0)

    many = run_json("table", "survey", folder)

    assert (few.pop("engine"), many.pop("engine")) == ("in process", "Spark")
    assert _without_examples(many) == _without_examples(few)


def _without_examples(found: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return a document without paths of files, which come in any order."""
    if isinstance(found, list):
        return [_without_examples(one) for one in found]
    if not isinstance(found, dict):
        return found
    return {
        name: _without_examples(value)
        for name, value in found.items()
        if name != "example"
    }
