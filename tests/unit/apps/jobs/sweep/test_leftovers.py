import os
from pathlib import Path
from uuid import uuid4

import pytest
from pytest_django.fixtures import Settings

from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.results import RESULTS_FOLDER
from deltaweb.web.jobs.sweep import leftovers
from deltaweb.web.jobs.sweep.leftovers import (
    ABANDONED_AFTER_S,
    remove_leftovers,
    remove_results,
)
from tests.support import cases
from tests.support.pages.factories import NOW, new_job

pytestmark = [pytest.mark.django_db, pytest.mark.database]
OLD_S = NOW.timestamp() - ABANDONED_AFTER_S - 1
STATES = {"running": Job.State.RUNNING, "queued": Job.State.QUEUED}


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.HOME = tmp_path
    for name in (RESULTS_FOLDER, leftovers.SCRATCH_FOLDER):
        (tmp_path / name).mkdir()
    return tmp_path


def new_place(path: Path, *, changed_at_s: float = OLD_S) -> Path:
    """Make a folder with a file in it below scratch, a file elsewhere."""
    if path.parent.name == leftovers.SCRATCH_FOLDER:
        path.mkdir()
        (path / "part-0.arrow").write_bytes(b"rows")
    else:
        path.write_bytes(b"rows")
    os.utime(path, (changed_at_s, changed_at_s))
    return path


def job_id(whose: str) -> str:
    """The id of a job in a state, or of one that nobody knows."""
    if whose == "unknown":
        return str(uuid4())
    return str(new_job(state=STATES.get(whose, Job.State.DONE)).id)


class TestRemoveLeftovers:
    @cases(
        "name, kept_for",
        {
            "a folder to work in": ("scratch/{}", {"running", "queued"}),
            "a result": ("results/{}.arrow", {"running", "queued", "done"}),
            "half a result": ("results/{}.arrow.part", {"running", "queued"}),
            "half a file of rows": (
                "results/.{}.parquet.partial",
                {"running", "queued"},
            ),
        },
    )
    @pytest.mark.parametrize("whose", ["running", "queued", "done", "unknown"])
    def test_of_jobs_in_each_state(self, home, name, kept_for, whose):
        place = new_place(home / name.format(job_id(whose)))

        assert remove_leftovers(now=NOW) == (whose not in kept_for)
        assert place.exists() == (whose in kept_for)

    def test_leaves_what_is_not_old(self, home: Path) -> None:
        for name in ("scratch/{}", "results/{}.arrow", "results/{}.arrow.part"):
            new_place(home / name.format(uuid4()), changed_at_s=OLD_S + 2)

        assert remove_leftovers(now=NOW) == 0

    @pytest.mark.parametrize("name", ["scratch/notes", "results/notes.arrow"])
    def test_leaves_what_bears_no_id(self, home: Path, name: str) -> None:
        place = new_place(home / name)

        assert remove_leftovers(now=NOW) == 0
        assert place.exists()

    def test_finds_nothing_where_no_job_has_left_anything(self, settings, tmp_path):
        settings.HOME = tmp_path / "fresh"

        assert remove_leftovers(now=NOW) == 0


def test_results_are_files_and_folders(home: Path) -> None:
    gone, kept = uuid4(), uuid4()
    results = home / "results"
    (results / f"{gone}.parts").mkdir()
    for name in (
        f"{gone}.arrow",
        f"{gone}.parquet",
        f"{gone}.parts/0",
        f"{kept}.arrow",
    ):
        (results / name).write_bytes(b"rows")

    remove_results(gone)

    assert [path.name for path in results.iterdir()] == [f"{kept}.arrow"]
