"""A log that does not read to its end: one state, everywhere, until it is mended."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.index.probing import probe_tables
from apps.tables.index.results import store_failure
from apps.tables.models import Table
from deltaweb.delta.log.paths import commit_name
from tests.functional.catalogue.pages import as_csv, as_json, text
from tests.functional.table_command.commands import run, run_json
from tests.support import cases
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.logs.dated_log import DatedLog
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
PAGE = "/t/default/orders/"
WORDS = "commit 12 is missing"


@pytest.fixture
def log(settings: Settings, tmp_path: Path) -> DatedLog:
    """Thirteen versions, of which somebody has deleted the commit 12."""
    settings.HOME = tmp_path / "home"
    log = DatedLog(tmp_path / "lake").write(0, 13)
    (log.log / commit_name(12)).unlink()
    new_indexed_table("orders", Path(log.location))
    return log


def probe() -> None:
    now = timezone.now() + timedelta(hours=3)
    Table.objects.update(probe_due_at=now)
    probe_tables(now=now)


def table() -> Table:
    return Table.objects.get()


class TestATableThatIsBehind:
    @pytest.mark.usefixtures("log")
    def test_is_called_so_everywhere(self, viewer: Client) -> None:
        row = text(viewer, "/tables/")
        assert f"behind: {WORDS}" in row
        assert "status=behind" in text(viewer, "/tables/", status="behind")
        assert "No table matches" in text(viewer, "/tables/", status="unreachable")
        assert "No table matches" in text(viewer, "/tables/", status="indexed")
        assert as_json(viewer, "/tables.json")["tables"][0]["behind"] == WORDS
        header, line = as_csv(viewer, "/tables.csv")
        assert line[header.index("status")] == "behind"

        head = text(viewer, PAGE)
        assert f"Behind: {WORDS}" in words(head)
        assert "cannot be read" not in head.partition("<b>Behind")[0]
        assert '<span class="dw-3">behind</span>' in head
        assert '<span class="dw-3">latest</span>' not in head
        assert as_json(viewer, "/t/default/orders.json")["behind"] == WORDS
        assert as_json(viewer, f"{PAGE}history.json")["behind"] == WORDS

        dashboard = text(viewer, "/")
        assert 'href="/tables/?status=behind">1 behind</a>' in dashboard
        assert "all indexed" not in dashboard
        told = as_json(viewer, "/dashboard.json")
        assert (told["tables_behind"], told["tables_failing"]) == (1, 0)

    def test_is_called_so_by_the_commands(self, log: DatedLog) -> None:
        assert f"BEHIND: {WORDS}" in run("list")
        assert run_json("list")[0]["behind"] == WORDS
        for place in ("orders", log.location):
            shown = run_json("show", place)
            assert (shown["version"], shown["behind"]) == (11, WORDS)
            assert f"behind: {WORDS}" in run("show", place)
        assert run_json("show", "orders", "--version", "3")["behind"] is None

    @pytest.mark.usefixtures("log")
    def test_stays_so_through_probes_and_refreshes(self, viewer: Client) -> None:
        probe()
        assert f"behind: {WORDS}" in text(viewer, "/tables/")
        assert not Job.objects.exists()  # nothing is new: no job fails for it
        index_table(table())
        probe()

        assert f"behind: {WORDS}" in text(viewer, "/tables/")
        assert f"Behind: {WORDS}" in words(text(viewer, PAGE))
        assert table().error_code == "log-gap"

    @pytest.mark.usefixtures("log")
    def test_is_unreachable_only_while_it_is(self, viewer: Client) -> None:
        store_failure(
            table().id,
            code="location-unreachable",
            message="The disk is gone.",
            hint="",
            now=timezone.now(),
        )
        assert "unreachable</span>" in text(viewer, "/tables/")
        assert "The disk is gone." in text(viewer, PAGE)

        probe()
        assert Job.objects.filter(kind="tables.index_log").count() == 1
        index_table(table())

        assert f"behind: {WORDS}" in text(viewer, "/tables/")

    @cases(
        "mend, version",
        {
            "the commit came back": (lambda log: log.write(12, 12), 13),
            "what followed it went": (
                lambda log: (log.log / commit_name(13)).unlink(),
                11,
            ),
        },
    )
    def test_is_indexed_again_once_the_log_is_mended(self, viewer, log, mend, version):
        mend(log)

        probe()
        assert Job.objects.filter(kind="tables.index_log").count() == 1
        Job.objects.all().delete()
        index_table(table())

        found = table()
        assert (found.version, found.behind, found.error_code) == (version, "", "")
        assert "Behind" not in text(viewer, PAGE)
        assert "all indexed" in text(viewer, "/")


def test_what_does_not_read_is_named(settings, tmp_path, viewer):
    settings.HOME = tmp_path / "home"
    log = DatedLog(tmp_path / "lake").write(0, 5)
    (log.log / commit_name(4)).write_text("{torn")
    new_indexed_table("orders", Path(log.location))

    assert "behind: commit 4 does not read" in text(viewer, "/tables/")
    shown = run_json("show", log.location)
    assert (shown["version"], shown["behind"]) == (3, "commit 4 does not read")
