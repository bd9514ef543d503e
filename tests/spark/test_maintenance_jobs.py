"""Checkpoint jobs of large logs: written by Spark, as asked for, in their own words."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from apps.jobs.models import Job
from deltaweb.delta.log.paths import checkpoint_name, checkpoint_part_names, commit_name
from deltaweb.table import DeltaTable
from tests.functional.command_line import run_json
from tests.support.pages.factories import new_table
from tests.support.pages.operated import request_checkpoint, worked

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("spark")]
NEWEST = 21


@pytest.fixture(autouse=True)
def home(settings: "Settings", tmp_path: Path) -> Path:
    """Every log is a large one."""
    settings.HOME = tmp_path / "home"
    settings.SPARK_REPLAY_BYTES = 0
    return tmp_path / "home"


@pytest.fixture
def orders(lake: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    shutil.copytree(lake / "orders" / "_delta_log", folder / "_delta_log")
    return folder


def queue(location: Path, *, version: int = NEWEST, parts: int | None = None) -> Job:
    return request_checkpoint(
        new_table("orders", location=str(location), version=NEWEST),
        version=version,
        parts=parts,
    )


def result_of(job: Job) -> dict[str, Any]:
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error_detail
    assert isinstance(job.result, dict)
    return job.result


def paths(location: Path, version: int) -> list[str]:
    files = DeltaTable(str(location)).snapshot(version).files
    return sorted(files["path"].to_pylist())


def names(location: Path) -> list[str]:
    return sorted(path.name for path in (location / "_delta_log").iterdir())


@pytest.mark.parametrize(
    ("version", "parts", "names"),
    [
        pytest.param(NEWEST, None, (checkpoint_name(NEWEST),), id="a single file"),
        pytest.param(13, 3, checkpoint_part_names(13, 3), id="older, in parts"),
    ],
)
def test_a_checkpoint_is_written_as_it_was_asked_for(orders, version, parts, names):
    before = paths(orders, version)
    job = queue(orders, version=version, parts=parts)

    worked(job)

    result = result_of(job)
    assert (result["engine"], result["files"]) == ("Spark", list(names))
    assert (result["version"], result["num_files"]) == (version, len(before))
    for earlier in range(version):
        (orders / "_delta_log" / commit_name(earlier)).unlink()
    assert paths(orders, version) == before
    assert "Writing the checkpoint" in job.log


def test_a_commit_that_does_not_read_is_named(orders: Path) -> None:
    (orders / "_delta_log" / commit_name(NEWEST - 1)).write_text("{")
    before = names(orders)
    job = queue(orders, parts=2)

    worked(job)

    assert (job.state, job.error_code) == (Job.State.FAILED, "log-corrupt")
    assert commit_name(NEWEST - 1) in job.error
    assert names(orders) == before


def test_a_command_goes_to_spark_as_the_page_does(orders: Path, settings: "Settings"):
    written = run_json("table", "checkpoint", orders, "--version", 13)
    settings.SPARK_REPLAY_BYTES = 1 << 30
    here = run_json("table", "checkpoint", orders)
    asked = run_json("table", "checkpoint", orders, "--engine", "spark")

    assert (written["engine"], written["version"]) == ("Spark", 13)
    assert (here["engine"], asked["engine"]) == ("in process", "Spark")
