import math
import os
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables import tasks
from tests.support.pages.factories import new_unindexed_table

pytestmark = pytest.mark.django_db


@pytest.fixture
def left(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Old folders of a table, a job and an upload; no sweep was yet."""
    settings.HOME = tmp_path
    monkeypatch.setitem(tasks._cleaned_at, "monotonic_s", -math.inf)  # noqa: SLF001 (when it was)
    places = [
        tmp_path / name / str(uuid4()) for name in ("index", "scratch", "uploads")
    ]
    for place in places:
        place.mkdir(parents=True)
        os.utime(place, (0, 0))
    return places


class TestProbeDue:
    def test_sweeps_what_tables_and_jobs_have_left(self, left: list[Path]) -> None:
        tasks.probe_due()

        assert not any(place.exists() for place in left)

    @pytest.mark.usefixtures("left")
    def test_has_indexes_made_anew_that_are_gone(self) -> None:
        later = timezone.now() + timedelta(hours=1)
        table = new_unindexed_table(index_name="1-5-a", probe_due_at=later)

        tasks.probe_due()

        assert Job.objects.get().subject_id == table.id

    def test_sweeps_once_an_hour(self, left: list[Path]) -> None:
        tasks.probe_due()
        left[1].mkdir()
        os.utime(left[1], (0, 0))

        tasks.probe_due()

        assert left[1].exists()
