"""The job that profiles a column: done or failed, in its own words."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.models import Table
from apps.tables.work.profile import PROFILE, Profile
from tests.support.pages.factories import NOW, new_table

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("spark", "home"),
]


def queue(location: Path, *column: str, version: int = 21) -> Job:
    table = new_table(location.name, location=str(location), version=21)
    return PROFILE.request(table, Profile(version=version, column=column), now=NOW)


class TestProfileColumn:
    @pytest.mark.parametrize("most_bytes", [1 << 30, 0], ids=["here", "by Spark"])
    def test_keeps_the_profile_for_whoever_asks_next(
        self, lake: Path, settings: Settings, most_bytes: int
    ) -> None:
        settings.SPARK_DIFF_BYTES = most_bytes
        job = queue(lake / "orders", "country")

        PROFILE.work(job.id)

        job.refresh_from_db()
        assert job.state == Job.State.DONE
        assert job.progress_unit == ("rows" if most_bytes else "tasks")
        assert isinstance(job.result, dict)
        assert (job.result["num_rows"], job.result["num_distinct"]) == (5568, 4)
        again = PROFILE.request(
            Table.objects.get(), Profile(version=21, column=("country",)), now=NOW
        )
        assert again == job

    def test_a_failure_has_its_own_code(self, lake: Path) -> None:
        job = queue(lake / "orders", "country", version=99)

        PROFILE.work(job.id)

        job.refresh_from_db()
        assert (job.state, job.error_code) == (Job.State.FAILED, "version-not-found")
