"""What stands at the first request: the samples, or the tables of a lake."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from pytest_django.fixtures import Settings

from apps.accounts import services as accounts
from apps.accounts.errors import SignInLinkInvalidError
from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.catalogue.lakes.scan_job import SCAN_ROOT
from apps.tables.catalogue.lakes.services import LakeRule, change_lake
from apps.tables.catalogue.registration import remove_table
from apps.tables.models import AllowedRoot, Lake, Table
from apps.tables.models.schedules import schedule_name
from deltaweb.management.first_start import (
    RETRY_S,
    check_lake,
    link_of_server,
    register_lake,
    register_samples,
)
from tests.support.pages.factories import NOW


class TestTheLakeThatIsNamed:
    @pytest.mark.parametrize("named", ["", "   "])
    def test_is_none_where_nothing_is_said(self, named: str) -> None:
        assert check_lake(named) is None

    def test_is_a_folder(self, tmp_path: Path) -> None:
        assert check_lake(f" {tmp_path} ") == str(tmp_path)

    def test_may_be_the_url_of_a_bucket(self) -> None:
        assert check_lake("s3://bucket/lake/") == "s3://bucket/lake"
        with pytest.raises(CommandError, match="not a kind of storage"):
            check_lake("https://host/lake")

    def test_is_refused_where_it_is_no_folder(self) -> None:
        with pytest.raises(CommandError, match="LAKE=/no/such/folder is not a folder"):
            check_lake("/no/such/folder")


@pytest.mark.django_db
def test_samples_that_were_removed_stay_removed(tmp_path, lake, settings):
    settings.HOME = tmp_path
    shutil.copytree(lake, tmp_path / "samples")
    register_samples(NOW)
    names = {table.name for table in Table.objects.all()}

    remove_table(Table.objects.order_by("name")[0], stamp=Stamp(COMMAND_LINE, NOW))
    register_samples(NOW)

    assert len(names) == 4
    assert len(names & {table.name for table in Table.objects.all()}) == 3


# The server closes its connection to the database afterwards.
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("schedule", ["1h", "1d", "never"])
def test_a_lake_that_is_known_keeps_its_schedule(tmp_path, schedule) -> None:
    register_lake(str(tmp_path))
    lake = Lake.objects.get()
    assert schedule_name(lake.scan_interval_s) == "1h"
    change_lake(lake, LakeRule(schedule=schedule), stamp=Stamp(COMMAND_LINE, NOW))

    register_lake(str(tmp_path))

    assert schedule_name(Lake.objects.get().scan_interval_s) == schedule


@pytest.mark.django_db(transaction=True)
def test_a_store_that_does_not_answer_is_tried_again_and_not_kept(tmp_path) -> None:
    location = str(tmp_path / "lake")
    said: list[str] = []
    waited: list[float] = []

    def pause(seconds: float) -> None:
        assert not Lake.objects.exists()
        assert not AllowedRoot.objects.exists()
        waited.append(seconds)
        if len(waited) == 3:
            (tmp_path / "lake/orders/_delta_log").mkdir(parents=True)

    register_lake(location, said.append, pause=pause)

    assert waited == [RETRY_S] * 3
    refused, found = said
    assert refused.startswith(f"{location} cannot be scanned: it does not exist.")
    assert refused.endswith("It is tried again every 30 s.")
    assert found == f"{location}: 1 table found, 1 of them new"
    assert Lake.objects.get().url == location


@pytest.mark.django_db(transaction=True)
def test_a_scan_by_a_worker_is_told_in_the_terminal(tmp_path: Path) -> None:
    for name in ("orders", "returns"):
        (tmp_path / name / "_delta_log").mkdir(parents=True)
    said: list[str] = []

    def pause(_: float) -> None:
        job = Job.objects.get(kind=SCAN_ROOT.name)
        if job.started_at is None and not said:
            Job.objects.update(progress_done=1, progress_unit="table in 2 folders")
            return
        SCAN_ROOT.work(job.id)

    def say(text: str) -> None:
        said.append(text)

    register_lake(str(tmp_path), say, by_job=True, pause=pause)

    assert said == [
        f"{tmp_path}: 1 table in 2 folders found so far",
        f"{tmp_path}: 2 tables found, 2 of them new",
    ]


def sign_in(link: str) -> str:
    token = link.rstrip("/").rpartition("/")[2]
    later = NOW + timedelta(days=1000)
    return accounts.use_sign_in_link(
        token=token, stamp=Stamp(COMMAND_LINE, later)
    ).username


@pytest.mark.django_db
class TestTheLinkOfAServer:
    @pytest.fixture(autouse=True)
    def home(self, settings: Settings, tmp_path: Path) -> Path:
        settings.HOME = tmp_path
        return tmp_path

    def test_waits_for_as_long_as_the_server_runs(self, home: Path) -> None:
        with link_of_server() as link:
            assert (home / "sign-in-link").read_text().strip() == link
            assert sign_in(link) == "admin"

    def test_is_good_for_nothing_once_the_server_has_ended(self) -> None:
        with link_of_server() as link:
            pass

        with pytest.raises(SignInLinkInvalidError):
            sign_in(link)

    def test_is_withdrawn_by_the_next_where_the_server_was_killed(self) -> None:
        killed = link_of_server()
        left = killed.__enter__()

        with link_of_server() as link:
            with pytest.raises(SignInLinkInvalidError):
                sign_in(left)
            assert sign_in(link) == "admin"
