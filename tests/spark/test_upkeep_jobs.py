"""Checkpoint jobs of large logs: written by Spark, as asked for, in their own words."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from apps.jobs.models import Job
from apps.jobs.services import cancel
from apps.pages.actions import COMMAND_LINE
from apps.tables.work.checkpoint import CHECKPOINT, request_checkpoint
from deltaweb.delta.log.paths import checkpoint_name, checkpoint_part_names, commit_name
from deltaweb.table import DeltaTable
from tests.factories import new_table
from tests.installation import ROOT, environment, migrate
from tests.spark_worker import SET_BY_A_SESSION, rows

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("spark"),
]
NEWEST = 21
HELPER = "tests.functional.upkeep_worker"


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
        actor=COMMAND_LINE,
        now=timezone.now(),
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
def test_a_checkpoint_is_written_as_it_was_asked_for(
    orders: Path, version: int, parts: int | None, names: tuple[str, ...]
) -> None:
    before = paths(orders, version)
    job = queue(orders, version=version, parts=parts)

    CHECKPOINT.work(job.id)

    result = result_of(job)
    assert (result["engine"], result["files"]) == ("Spark", list(names))
    assert (result["version"], result["num_files"]) == (version, len(before))
    for earlier in range(version):
        (orders / "_delta_log" / commit_name(earlier)).unlink()
    assert paths(orders, version) == before
    assert "Writing the checkpoint" in job.log


def test_a_job_that_is_cancelled_writes_nothing(orders: Path) -> None:
    before = names(orders)
    job = cancel(queue(orders), now=timezone.now())

    CHECKPOINT.work(job.id)

    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert names(orders) == before


def test_a_commit_that_does_not_read_is_named(orders: Path) -> None:
    (orders / "_delta_log" / commit_name(NEWEST - 1)).write_text("{")
    before = names(orders)
    job = queue(orders, parts=2)

    CHECKPOINT.work(job.id)

    job.refresh_from_db()
    assert (job.state, job.error_code) == (Job.State.FAILED, "log-corrupt")
    assert commit_name(NEWEST - 1) in job.error
    assert names(orders) == before


def test_a_spark_that_dies_is_replaced_once(orders: Path, tmp_path: Path) -> None:
    before = paths(orders, NEWEST)
    home = tmp_path / "another"
    home.mkdir()
    migrate(home)
    variables = environment(
        home,
        DELTAWEB_SPARK_REPLAY_BYTES="0",
        DELTAWEB_SPARK_MASTER="local[1]",
        DELTAWEB_SPARK_DRIVER_MEMORY="512m",
    )
    for name in SET_BY_A_SESSION:
        variables.pop(name, None)

    def tell(*arguments: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "tests.lean", HELPER, *map(str, arguments)],
            env=variables,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )

    job = tell("queue", orders, NEWEST, 2).stdout
    done = tell("lose", job)

    [row] = rows(home, f"SELECT * FROM jobs_job WHERE id = '{job}'")  # noqa: S608  # of hexadecimal digits
    assert row["state"] == "DONE", row["error_detail"]
    assert "Spark stopped; its work is done again." in done.stderr
    assert json.loads(row["result"])["num_files"] == len(before)
    assert set(checkpoint_part_names(NEWEST, 2)) <= set(names(orders))
    assert paths(orders, NEWEST) == before
