"""Versions whose files are gone: what pages claim, and what they find out."""

import json
from pathlib import Path

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.models import MissingFiles, Table
from apps.tables.work.check_files import CHECK_FILES
from apps.tables.work.diff_rows import DIFF_ROWS
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.storage.local import LocalTableStore
from tests.functional.command_line import Ran, run_json
from tests.functional.explore_a_table.pages import HTMX, TABLE, work
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.pages.answers import json_of, text_of
from tests.support.tables.versioned_table import VersionedTable

pytestmark = [pytest.mark.django_db, pytest.mark.database]
SCHEMA = StructType((StructField("id", PrimitiveType("long")),))
ROWS = [{"id": 1}]
NOW = {"retentionCheckEnabled": "false", "specifiedRetentionMillis": "0"}
DATA = f"{TABLE}visits/data"


@pytest.fixture
def written(tmp_path: Path) -> VersionedTable:
    """Versions 0 to 3 of the files a; a b; b; b c."""
    table = VersionedTable(LocalTableStore(str(tmp_path / "visits")))
    table.commit(metadata=table.define(SCHEMA), add={"a": ROWS})
    table.commit(add={"b": ROWS})
    table.commit(remove=["a"])
    table.commit(add={"c": ROWS})
    return table


def lose(written: VersionedTable, *names: str) -> list[Path]:
    """Delete files by hand; return where they were."""
    root = Path(written.store.root)
    lost = [path for name in names for path in root.glob(f"{name}-*.parquet")]
    for path in lost:
        path.rename(path.with_suffix(".away"))
    return lost


def vacuum(written: VersionedTable) -> None:
    written.commit(operation="VACUUM START", parameters=NOW)
    written.commit(operation="VACUUM END", parameters={"status": "COMPLETED"})
    lose(written, "a")


def register(written: VersionedTable) -> Table:
    return new_indexed_table("visits", Path(written.store.root))


def read(client: Client, version: int) -> None:
    """Ask for the rows of a version, and do the work."""
    client.get(f"{DATA}?v={version}")
    work()


def list_of(entries: object) -> list[dict[str, object]]:
    assert isinstance(entries, list)
    return entries


def check_files(client: Client) -> Job:
    client.post(f"{TABLE}visits/check-files")
    job = Job.objects.get(kind="tables.check_files", state=Job.State.QUEUED)
    CHECK_FILES.work(job.id)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    return job


def states_of(table: Table) -> list[str]:
    table.refresh_from_db()
    stored = table.commits.order_by("version").values_list("readability", flat=True)
    runs = table.summary["readable_runs"]
    spread = [run[2] for run in runs for _ in range(run[0], run[1] + 1)]
    assert spread == list(stored)
    return spread


class TestAVersionThatAVacuumHasEmptied:
    @pytest.fixture(autouse=True)
    def table(self, written: VersionedTable) -> Table:
        vacuum(written)
        return register(written)

    def test_is_told_from_one_that_lacks_some_files(self, table: Table) -> None:
        assert states_of(table)[:3] == ["FILES_GONE", "PARTLY", "READABLE"]

    def test_has_no_job_but_a_page_that_names_the_vacuum(self, viewer: Client) -> None:
        response = viewer.get(f"{DATA}?v=0")

        page = response.content.decode()
        assert response.status_code == 410
        assert "v0 cannot be read: the VACUUM of v4 deleted its only file." in page
        assert "VACUUM START by <bdi>alice</bdi>" in page
        assert f'href="{DATA}?v=2"' in page
        assert not Job.objects.exists()

    def test_names_a_vacuum_that_is_indexed_after_a_read_has_failed(
        self, viewer: Client, table: Table
    ) -> None:
        logged = table.missing_files.get(first_version=0)
        table.missing_files.filter(id=logged.id).update(
            source=MissingFiles.Source.READ, vacuum_version=None
        )
        logged.pk = None
        logged.save()

        page = viewer.get(f"{DATA}?v=0").content.decode()

        assert "v0 cannot be read: the VACUUM of v4 deleted its only file." in page

    @pytest.mark.parametrize("form", ["json", "csv"])
    def test_is_gone_for_machines_too(self, viewer: Client, form: str) -> None:
        gone = json_of(viewer, f"{DATA}.{form}?v=0", status=410)

        assert gone["error"] == "version-gone"
        assert gone["vacuum"] is not None
        assert gone["nearest_readable"] == {"older": None, "newer": 2}
        files = dict(gone["files"])
        assert (files["total"], files["missing"], files["known"]) == (1, 1, "LOG")

    def test_is_said_by_its_overview_and_its_ribbon(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}visits/?v=0")

        assert (
            "the VACUUM of v4 deleted its only file. Nearest that can be read:" in page
        )
        ribbon = page.split('class="dw-ribbon"')[1].split("</div>")[0]
        assert 'class="dw-dot gone"' in ribbon
        assert "0 of 1 file left" in ribbon

    def test_lists_its_files_by_the_log(self, viewer: Client) -> None:
        viewer.get(f"{TABLE}visits/files?v=0")
        work()

        page = text_of(viewer, f"{TABLE}visits/files?v=0")
        assert "a-1.parquet" in page

    def test_says_how_many_files_of_a_version_are_left(self, viewer: Client) -> None:
        tip = json_of(viewer, f"{TABLE}visits/versions/1.json")

        files = dict(tip["files"])
        assert files["words"] == "1 of 2 files"
        lacking = json_of(viewer, f"{TABLE}visits.json")["missing_files"]
        assert [(run["first"], run["words"]) for run in list_of(lacking)] == [
            (0, "0 of 1 file"),
            (1, "1 of 2 files"),
        ]

    def test_is_by_the_log_until_somebody_looks(self, viewer: Client) -> None:
        assert "from the log" in text_of(viewer, f"{TABLE}visits/")

        check_files(viewer)

        page = text_of(viewer, f"{TABLE}visits/")
        assert "from the log" not in page
        assert "files verified" in page


class TestAVersionWhoseFilesNobodyMisses:
    """No commit of the history tells of what was deleted."""

    @pytest.fixture(autouse=True)
    def table(self, written: VersionedTable) -> Table:
        return register(written)

    def test_is_marked_by_a_read_that_fails(self, viewer, written, table):
        lose(written, "a", "b", "c")
        read(viewer, 2)

        response = viewer.get(f"{DATA}?v=2")

        assert response.status_code == 410
        page = response.content.decode()
        assert "v2 cannot be read: its only file is not in storage" in page
        assert "no VACUUM in the history mentions it" in page
        assert states_of(table) == ["READABLE", "PARTLY", "FILES_GONE", "PARTLY"]
        (job,) = Job.objects.all()
        assert job.state == Job.State.DONE

    def test_is_partly_readable_where_some_are_left(self, viewer, written, table):
        lose(written, "a")
        read(viewer, 1)

        response = viewer.get(f"{DATA}?v=1")

        assert response.status_code == 410
        assert "1 of its 2 files is not in storage" in response.content.decode()
        assert states_of(table) == ["FILES_GONE", "PARTLY", "READABLE", "READABLE"]

    def test_is_never_named_as_the_nearest_that_can_be_read(self, viewer, written):
        lose(written, "b")
        read(viewer, 2)

        gone = json_of(viewer, f"{DATA}.json?v=2", status=410)

        # v1 and v3 have the file, too.
        assert gone["nearest_readable"] == {"older": 0, "newer": None}

    def test_counts_what_reads_of_several_versions_have_missed(
        self, viewer: Client, written: VersionedTable, table: Table
    ) -> None:
        lose(written, "b")
        read(viewer, 2)
        lose(written, "c")
        read(viewer, 3)

        assert states_of(table) == ["READABLE", "PARTLY", "FILES_GONE", "FILES_GONE"]

    def test_is_shown_with_its_mark_to_a_page_that_waits(self, viewer, written):
        lose(written, "a")
        read(viewer, 0)

        response = viewer.get(f"{DATA}?v=0", headers=HTMX)

        assert response.status_code == 204
        assert "page-moved-on" in response["HX-Trigger"]

    def test_stays_marked_by_the_next_index(self, viewer, written, table):
        lose(written, "a")
        read(viewer, 0)
        written.commit(add={"d": ROWS})

        index_table(table)

        assert states_of(table) == ["FILES_GONE", "PARTLY", *["READABLE"] * 3]

    def test_is_marked_no_longer_once_the_files_are_found(self, viewer, written, table):
        (place,) = lose(written, "a")
        read(viewer, 0)
        place.with_suffix(".away").rename(place)

        check_files(viewer)

        assert set(states_of(table)) == {"READABLE"}
        read(viewer, 0)
        assert viewer.get(f"{DATA}?v=0").status_code == 200

    def test_is_read_again_where_a_read_finds_the_file(self, viewer, written, table):
        (place,) = lose(written, "a")
        read(viewer, 1)
        place.with_suffix(".away").rename(place)

        viewer.get(f"{DATA}?v=1&f=id:eq:1")
        work()

        assert set(states_of(table)) == {"READABLE"}

    def test_leads_from_its_job_to_the_page(self, viewer, written):
        lose(written, "a")
        read(viewer, 0)
        job = Job.objects.get()

        told = json_of(viewer, f"/jobs/{job.id}.json")

        assert told["result_url"] == f"{DATA}?v=0"
        assert not Job.objects.filter(state=Job.State.FAILED).exists()

    def test_is_gone_for_an_export_as_well(self, viewer, written):
        lose(written, "a")
        viewer.get(f"{DATA}.csv?v=0")
        work()

        assert json_of(viewer, f"{DATA}.csv?v=0", status=410)["error"] == "version-gone"


class TestACheckOfTheFiles:
    def test_counts_every_version(self, viewer: Client, written: VersionedTable):
        table = register(written)
        lose(written, "a")

        job = check_files(viewer)

        assert job.result == {
            "version": 3,
            "num_versions": 4,
            "num_complete": 2,
            "num_partly": 1,
            "num_gone": 1,
            "num_files": 3,
            "num_missing": 1,
        }
        assert states_of(table) == ["FILES_GONE", "PARTLY", "READABLE", "READABLE"]

    def test_is_asked_for_once_at_a_time(self, viewer: Client, written: VersionedTable):
        register(written)

        viewer.post(f"{TABLE}visits/check-files")
        viewer.post(f"{TABLE}visits/check-files")

        assert Job.objects.count() == 1
        assert "verifying files" in text_of(viewer, f"{TABLE}visits/")

    def test_finds_what_the_log_takes_for_deleted(self, viewer, written):
        written.commit(operation="VACUUM START", parameters=NOW)
        table = register(written)
        assert states_of(table)[0] == "FILES_GONE"

        check_files(viewer)

        assert set(states_of(table)) == {"READABLE"}

    def test_says_nothing_of_what_a_later_vacuum_deletes(self, viewer, written):
        table = register(written)
        check_files(viewer)
        vacuum(written)

        index_table(table)

        assert states_of(table)[:2] == ["FILES_GONE", "PARTLY"]

    def test_is_forgotten_where_another_table_takes_the_place(self, viewer, written):
        table = register(written)
        lose(written, "a")
        check_files(viewer)
        log = Path(written.store.root) / "_delta_log"
        for path in log.iterdir():
            path.unlink()
        other = VersionedTable(LocalTableStore(written.store.root))
        metadata = json.loads(json.dumps(other.define(SCHEMA)))
        metadata["metaData"]["id"] = "other"
        other.commit(metadata=metadata, add={"z": ROWS})

        index_table(table)

        assert states_of(table) == ["READABLE"]
        assert not table.missing_files.exists()
        assert (table.files_checked_last, table.files_checked_at) == (None, None)


def test_the_command_says_what_is_left(written: VersionedTable) -> None:
    table = register(written)
    lose(written, "a")

    told = run_json("table", "check-files", "visits")

    assert (told["num_complete"], told["num_partly"], told["num_gone"]) == (2, 1, 1)
    assert [(v["first"], v["num_missing"]) for v in told["versions"]] == [
        (0, 1),
        (1, 1),
    ]
    assert states_of(table)[0] == "FILES_GONE"

    said = Ran("table", "check-files", "visits").stdout

    assert "v1: 1 of 2 files" in said


def test_a_comparison_of_rows_that_fails_marks_the_version_too(viewer, written):
    table = register(written)
    viewer.post(f"{TABLE}visits/compare/1...2/rows")
    job = Job.objects.get(kind="tables.diff_rows")
    lose(written, "a")

    DIFF_ROWS.work(job.id)

    job.refresh_from_db()
    assert job.error_code == "data-file-missing"
    assert states_of(table) == ["FILES_GONE", "PARTLY", "READABLE", "READABLE"]
