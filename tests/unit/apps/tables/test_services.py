import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.additions import check_roots
from apps.tables.catalogue.checks import request_check
from apps.tables.catalogue.lakes.scan_job import request_scan
from apps.tables.catalogue.registration import (
    TableSettings,
    register_table,
    remove_table,
    rename_table,
    schedule_table,
    stamp_for,
)
from apps.tables.catalogue.scanning import load_samples, scan_root
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Table
from apps.tables.storage.connections import add_connection
from apps.tables.storage.locations import check_allowed
from apps.tables.storage.roots import allow_root, roots_for, samples_folder
from apps.tables.work.preview import PREVIEW, Preview
from apps.tables.work.version_files import VERSION_FILES, VersionFiles
from deltaweb.delta.errors import LocationInvalidError, LocationNotAllowedError
from tests.support.pages.factories import FAR_AHEAD, NOW, new_table, new_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]
STAMP = Stamp(COMMAND_LINE, NOW)


def register(name: str = "orders", location: str = "/lake/orders") -> Table:
    return register_table(name=name, location=location, stamp=STAMP)


class TestRegisterTable:
    def test_stores_the_table_and_queues_its_first_index(self) -> None:
        table = register_table(
            name="sales.orders",
            location="/lake/orders/",
            settings=TableSettings(description="All of them", restricted=True),
            stamp=STAMP,
        )

        table.refresh_from_db()
        assert (table.namespace, table.name) == ("sales", "orders")
        assert table.location == "/lake/orders"
        assert table.is_private
        assert table.state == Table.State.NEW
        job = Job.objects.get(subject_id=table.id)
        assert job.kind == "tables.index_log"
        assert job.state == Job.State.QUEUED

    @pytest.mark.parametrize(
        ("sent", "stored"), [(None, ""), (" All of them ", "All of them")]
    )
    def test_a_description_is_null_or_a_text(self, sent, stored) -> None:
        settings = TableSettings(description=sent)

        table = register_table(name="t", location="/t", settings=settings, stamp=STAMP)

        assert (table.description, table.is_private) == (stored, False)

    def test_keeps_nothing_of_a_refused_location(self) -> None:
        with pytest.raises(LocationInvalidError):
            register(location="relative")
        assert not Table.objects.exists()
        assert not Job.objects.exists()


class TestRoots:
    @pytest.fixture
    def admin(self) -> User:
        return new_user("ada", role=User.Role.ADMIN)

    @pytest.fixture
    def editor(self) -> User:
        return new_user("ed", role=User.Role.EDITOR)

    def test_without_the_setting_administrators_and_commands_may_register_any_path(
        self, admin: User
    ) -> None:
        assert roots_for(None) is None
        assert roots_for(admin) is None

    def test_without_the_setting_editors_may_register_from_lake_and_the_samples(
        self, editor: User, tmp_path: Path
    ) -> None:
        allow_root(str(tmp_path), reason="LAKE", now=NOW)

        assert roots_for(editor) == [str(tmp_path), str(samples_folder())]
        with pytest.raises(LocationNotAllowedError):
            register_table(name="t", location="/etc", created_by=editor, stamp=STAMP)

    def test_the_setting_binds_everyone(self, admin, settings, tmp_path):
        settings.ALLOWED_ROOTS = [str(tmp_path)]

        register_table(
            name="inside", location=str(tmp_path / "t"), created_by=admin, stamp=STAMP
        )
        for user in (None, admin):
            with pytest.raises(LocationNotAllowedError):
                register_table(
                    name="outside", location="/etc", created_by=user, stamp=STAMP
                )

    def test_editors_register_from_storages_that_were_added(self, editor: User) -> None:
        with pytest.raises(LocationNotAllowedError, match="storage add"):
            register_table(
                name="t", location="s3://lake/t", created_by=editor, stamp=STAMP
            )

        add_connection(name="lake", prefix="s3a://lake/", options={}, stamp=STAMP)

        register_table(name="t", location="s3://lake/t", created_by=editor, stamp=STAMP)
        for ask in (
            lambda where: register_table(
                name="u", location=where, created_by=editor, stamp=STAMP
            ),
            lambda where: request_check(location=where, requested_by=editor, now=NOW),
            lambda where: request_scan(where, stamp=stamp_for(editor, NOW)),
        ):
            with pytest.raises(LocationNotAllowedError):
                ask("s3://anybodys/t")

    def test_folders_alone_bind_nobody_but_editors_in_object_stores(
        self, admin: User, editor: User, settings: Settings, tmp_path: Path
    ) -> None:
        settings.ALLOWED_ROOTS = [str(tmp_path)]

        for user in (None, admin):
            roots = roots_for(user)
            check_allowed("s3://anybodys/x", roots=roots)
            check_allowed("abfss://c@a.example/x", roots=roots)
        with pytest.raises(LocationNotAllowedError):
            check_allowed("s3://anybodys/x", roots=roots_for(editor))

    def test_a_url_among_them_binds_everyone(self, admin, editor, settings):
        settings.ALLOWED_ROOTS = ["/srv", "s3a://lake/"]

        for user in (None, admin, editor):
            roots = roots_for(user)
            check_allowed("s3://lake/x", roots=roots)
            with pytest.raises(LocationNotAllowedError):
                check_allowed("s3://anybodys/x", roots=roots)

    @pytest.mark.parametrize("root", ["s3://", "https://host/x"])
    def test_a_url_that_allows_nothing_is_named_at_the_start(self, settings, root):
        settings.ALLOWED_ROOTS = ["/srv", root]

        (found,) = check_roots(None)

        assert found.msg.startswith("DELTAWEB_ALLOWED_ROOTS: ")

    def test_a_root_is_allowed_once_however_often_it_is_named(self, tmp_path: Path):
        first = allow_root(str(tmp_path), reason="LAKE", now=NOW)

        assert allow_root(str(tmp_path), reason="LAKE", now=NOW) == first


class TestScanRoot:
    @pytest.fixture
    def lake(self, tmp_path: Path) -> Path:
        for path in ("orders", "sales/items", "a_b/t", "a/b/t"):
            (tmp_path / path / "_delta_log").mkdir(parents=True)
        return tmp_path

    def test_names_tables_by_their_path_and_reports_a_clash(self, lake: Path) -> None:
        report = scan_root(root=str(lake), stamp=STAMP)

        names = {table.full_name: table.location for table in report.registered}
        assert names == {
            "a_b.t": f"{lake}/a/b/t",
            "a_b.t_2": f"{lake}/a_b/t",
            "orders": f"{lake}/orders",
            "sales.items": f"{lake}/sales/items",
        }
        assert [(t.full_name, wanted) for t, wanted in report.renamed] == [
            ("a_b.t_2", "a_b.t")
        ]

    def test_a_name_given_by_hand_is_never_taken_away(self, lake: Path) -> None:
        register(name="orders", location="/elsewhere")

        report = scan_root(root=str(lake), stamp=STAMP)

        assert [(t.full_name, wanted) for t, wanted in report.renamed] == [
            ("a_b.t_2", "a_b.t"),
            ("orders_2", "orders"),
        ]
        assert report.shown().num_registered == 4


def test_its_own_name_is_no_clash() -> None:
    table = new_table("orders")

    assert rename_table(table, name="default.orders", stamp=STAMP).name == "orders"


class TestScheduleTable:
    @pytest.mark.parametrize(
        ("schedule", "interval_s"), [("1d", 86_400), ("default", None)]
    )
    def test_a_table_that_is_given_an_interval_is_due_at_once(
        self, schedule: str, interval_s: int | None
    ) -> None:
        far = NOW + timedelta(days=1)
        table = new_table("orders", refresh_interval_s=0, probe_due_at=far)

        schedule_table(table, refresh=schedule, stamp=STAMP)

        due = Table.objects.due_for_probe(NOW).get()
        assert due.refresh_interval_s == interval_s

    def test_one_that_is_refreshed_only_when_asked_never_is(self) -> None:
        table = new_table("orders")

        schedule_table(table, refresh="never", stamp=STAMP)

        assert not Table.objects.due_for_probe(FAR_AHEAD).exists()

    def test_the_same_schedule_again_changes_nothing(self) -> None:
        far = NOW + timedelta(days=1)
        table = new_table("orders", refresh_interval_s=600, probe_due_at=far)

        schedule_table(table, refresh="10m", stamp=STAMP)

        assert Table.objects.get().probe_due_at == far


class TestRemoveTable:
    def test_forgets_the_table_and_its_index_and_leaves_its_files(
        self,
        tmp_path: Path,
        django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    ) -> None:
        (tmp_path / "_delta_log").mkdir()
        table = new_table("orders", location=str(tmp_path))
        index = Path(django_settings.HOME) / "index" / str(table.id)
        index.mkdir(parents=True)
        job = refresh_table(table, now=NOW)

        with django_capture_on_commit_callbacks(execute=True):
            remove_table(table, stamp=STAMP)

        job.refresh_from_db()
        assert not Table.objects.exists()
        assert not index.exists()
        assert (tmp_path / "_delta_log").is_dir()
        assert job.state == Job.State.CANCELLED


class TestJobs:
    def test_two_refreshes_are_one_job(self) -> None:
        table = new_table("orders")

        first = refresh_table(table, now=NOW)

        assert refresh_table(table, now=NOW) == first

    def test_equal_previews_share_a_result_and_others_do_not(self) -> None:
        table = new_table("orders")
        first = PREVIEW.request(table, Preview(version=2, columns=("a",)), now=NOW)
        Job.objects.update(state=Job.State.DONE)

        again = PREVIEW.request(table, Preview(version=2, columns=("a",)), now=NOW)
        other = PREVIEW.request(table, Preview(version=1, columns=("a",)), now=NOW)

        assert again == first
        assert other != first

    def test_the_files_of_a_version_are_listed_once(self) -> None:
        table = new_table("orders")
        first = VERSION_FILES.request(table, VersionFiles(1), now=NOW)
        Job.objects.update(state=Job.State.DONE)

        assert VERSION_FILES.request(table, VersionFiles(1), now=NOW) == first

    def test_a_check_is_refused_before_it_is_queued(self) -> None:
        editor = new_user("ed", role=User.Role.EDITOR)

        with pytest.raises(LocationNotAllowedError):
            request_check(location="/etc", now=NOW, requested_by=editor)
        assert not Job.objects.exists()


def test_samples_are_registered_once(lake, home):
    shutil.copytree(lake, home / "samples")
    first = load_samples(stamp=STAMP)
    again = load_samples(stamp=STAMP)

    assert len(first) == 4
    assert {table.namespace for table in first} == {"samples"}
    assert again == first
