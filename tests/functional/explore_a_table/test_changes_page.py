"""The changes of a range of versions: counts, rows, and why there are none."""

from pathlib import Path
from urllib.parse import urlencode

import pyarrow as pa
import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.models import Commit, Table
from apps.tables.work.changes import READ_CHANGES
from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from tests.functional.explore_a_table.pages import TABLE
from tests.support import cases
from tests.support.index.indexed_tables import new_indexed_table, new_sample_table
from tests.support.pages.answers import csv_of, json_of, text_of
from tests.support.pages.factories import new_unindexed_table
from tests.support.tables.fed_table import FedTable, numbers, renamed_things
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db
URL = f"{TABLE}things/changes"


@pytest.fixture(autouse=True)
def _at_home(home: Path) -> None:
    """Every test has a home of its own."""


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return renamed_things().on_disk(tmp_path_factory.mktemp("renamed") / "things")


@pytest.fixture
def things(renamed: Path) -> Table:
    return new_sample_table("things", renamed)


def work() -> list[Job]:
    """Do what waits, as a worker does."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        READ_CHANGES.work(job.id)
    return list(Job.objects.order_by("created_at"))


def shown(viewer: Client, **query: object) -> dict[str, object]:
    """Return the JSON form once a worker has read the changes."""
    url = f"{URL}.json?{urlencode(query, doseq=True)}"
    viewer.get(url)
    work()
    return json_of(viewer, url)


@pytest.mark.usefixtures("things")
class TestChanges:
    def test_wait_for_a_job(self, viewer: Client) -> None:
        assert "Reading the changes" in text_of(viewer, URL)
        assert viewer.get(f"{URL}.json").status_code == 202
        assert [job.state for job in work()] == [Job.State.DONE]

    def test_are_counted_and_shown_the_newest_first(self, viewer: Client) -> None:
        page = shown(viewer)

        assert (page["from"], page["to"], page["key"]) == (0, 3, ["id"])
        counts = page["counts"]
        assert isinstance(counts, dict)
        assert [counts[name] for name in ("inserted", "updated", "deleted")] == [
            2,
            1,
            2,
        ]
        changes = page["changes"]
        assert isinstance(changes, list)
        assert [(one["kind"], one["version"]) for one in changes] == [
            ("delete", 3),
            ("delete", 3),
            ("update", 2),
            ("insert", 1),
            ("insert", 1),
        ]
        assert changes[2]["before"] == {"id": "1", "name": "x"}
        assert changes[2]["after"] == {"id": "1", "name": "z"}
        assert changes[2]["changed"] == ["name"]
        assert page["versions"] == [
            {
                "version": version,
                "inserted": counts[0],
                "updated": counts[1],
                "deleted": counts[2],
                "files": 1,
                "bytes": 0 if version == 3 else 1,
                "from_change_files": version == 2,
            }
            for version, counts in ((3, (0, 0, 2)), (2, (0, 1, 0)), (1, (2, 0, 0)))
        ]

    def test_stand_before_and_after_beside_each_other(self, viewer: Client) -> None:
        shown(viewer)
        page = " ".join(text_of(viewer, URL).split()).replace("> <", "><")

        assert "<del><span>x</span></del>" in page
        assert "<ins><span>z</span></ins>" in page
        assert 'href="/t/default/things/history/2"' in page
        assert "things.changes(0, 3)" in page
        assert "matched by <code>id</code>: its name says so" in page

    @cases(
        "query, versions",
        {
            "kinds": ({"kind": ["insert", "delete"]}, {1, 3}),
            "versions": ({"from": 2, "to": 2}, {2}),
            "a time": ({"from": "2023-11-14T22:15:20+00:00"}, {2, 3}),
            "the column that changed": ({"changed": "name"}, {2}),
            "the key": ({"is": "2"}, {1, 3}),
            "an older version": ({"v": 2, "kind": "insert"}, {1}),
        },
    )
    def test_are_filtered(self, viewer, query, versions):
        changes = shown(viewer, **query)["changes"]

        assert isinstance(changes, list)
        assert {change["version"] for change in changes} == versions
        assert text_of(viewer, f"{URL}?{urlencode(query, doseq=True)}")

    def test_without_a_key_have_the_rows_of_an_update_alone(self, viewer: Client):
        changes = shown(viewer, by="-")["changes"]

        assert isinstance(changes, list)
        assert [change["kind"] for change in changes if change["version"] == 2] == [
            "before",
            "after",
        ]
        assert "are listed separately" in text_of(viewer, f"{URL}?by=-")

    def test_are_lines_of_a_file(self, viewer: Client) -> None:
        shown(viewer)

        lines = csv_of(viewer, f"{URL}.csv")

        assert lines[0][:3] == ["id", "name", "_change_type"]
        assert [line[2] for line in lines[1:]] == [
            "delete",
            "delete",
            "update_preimage",
            "update_postimage",
            "insert",
            "insert",
        ]

    def test_that_match_nothing_say_so(self, viewer: Client) -> None:
        shown(viewer, **{"is": 9})

        assert "No change matches" in text_of(viewer, f"{URL}?is=9")

    def test_are_reached_from_the_page_of_a_commit(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}things/history/2")

        assert f'href="{URL}?from=2&amp;to=2"' in page

    def test_that_cannot_be_asked_for_are_refused(self, viewer: Client) -> None:
        for query, status in (
            ("from=9", 404),
            ("from=2090-01-01", 404),
            ("to=1990-01-01", 404),
            ("from=x", 400),
            (f"from={2**63}", 400),
            ("kind=x", 400),
            ("columns=x", 400),
            ("by=x", 400),
            ("changed=x", 400),
            ("by=-&changed=id", 400),
            ("by=-&is=1", 400),
            ("is=x", 400),
        ):
            assert viewer.get(f"{URL}?{query}").status_code == status, query


class TestThereAreNoChanges:
    def test_where_the_feed_was_off(self, viewer: Client, tmp_path: Path) -> None:
        fed = FedTable({"id": "long"}, properties={})
        fed.commit(fed.metadata({"id": "long"}), fed.add("a"))
        fed.commit(fed.metadata({"id": "long"}, properties={}))
        new_indexed_table("things", fed.on_disk(tmp_path / "things"))

        page = text_of(viewer, f"{URL}?from=0&to=2")

        assert "The change data feed is off at v0 and v2" in page
        assert f'href="{URL}?to=1"' in page
        error = viewer.get(f"{URL}.csv?from=0&to=2")
        assert error.status_code == 409

    def test_where_it_was_never_on(self, viewer: Client, tmp_path: Path) -> None:
        fed = FedTable({"id": "long"}, properties={})
        new_indexed_table("things", fed.on_disk(tmp_path / "things"))

        assert "delta.enableChangeDataFeed" in text_of(viewer, URL)

    def test_where_the_log_lost_commits(self, viewer: Client, things: Table) -> None:
        Commit.objects.filter(table=things, version__lte=1).update(is_archived=True)

        page = text_of(viewer, f"{URL}?from=0")

        assert "v0 to v1 are no longer in the log" in page

    def test_where_the_log_begins_later(self, viewer: Client, tmp_path: Path) -> None:
        builder = TableBuilder(tmp_path / "late").property(CHANGE_DATA_FEED_PROPERTY)
        builder.rows(*[pa.table({"id": [1]})] * 4).build().create_checkpoint()
        for commit in sorted((tmp_path / "late/_delta_log").glob("*.json"))[:4]:
            commit.unlink()
        new_indexed_table("late", tmp_path / "late")

        page = text_of(viewer, f"{TABLE}late/changes?to=1")

        assert "v1 is no longer in the log" in page

    def test_of_a_range_that_ends_before_it_begins(self, viewer: Client, things: Table):
        del things

        assert "v2 is after v1" in text_of(viewer, f"{URL}?from=2&to=1")

    def test_whose_file_is_gone(self, viewer: Client, tmp_path: Path) -> None:
        fed = FedTable({"n": "long"})
        fed.commit(fed.add("a", numbers(1)))
        folder = fed.on_disk(tmp_path / "things")
        (folder / "a").unlink()
        new_indexed_table("things", folder)
        viewer.get(URL)
        work()

        page = text_of(viewer, URL)

        assert "The changes of version 1 cannot be read: a is gone." in page
        assert viewer.get(f"{URL}.json").status_code == 422

    def test_of_versions_that_changed_no_row(self, viewer: Client, tmp_path: Path):
        new_indexed_table("things", FedTable({"n": "long"}).on_disk(tmp_path / "t"))
        viewer.get(URL)
        work()

        assert "No row changed" in text_of(viewer, URL)

    def test_before_the_first_index(self, viewer: Client) -> None:
        new_unindexed_table("things")

        assert text_of(viewer, URL)
        assert viewer.get(f"{URL}.csv").status_code == 409


class TestATypeThatChanged:
    """Version 0 has a long column, which a version after two appends makes a text."""

    @pytest.fixture(autouse=True)
    def retyped(self, tmp_path: Path) -> Table:
        fed = FedTable({"n": "long"})
        for version in (1, 2):
            fed.commit(fed.add(f"n-{version}", numbers(version)))
        removed = [fed.remove(f"n-{version}") for version in (1, 2)]
        fed.commit(fed.metadata({"n": "string"}), *removed)
        fed.commit(fed.add("text", pa.table({"n": ["a"]})))
        fed.commit(fed.add("more", pa.table({"n": ["b"]})))
        return new_indexed_table("things", fed.on_disk(tmp_path / "retyped"))

    def test_opens_on_the_longest_range_that_reads(self, viewer: Client) -> None:
        page = shown(viewer)

        assert (page["from"], page["to"], page["problem"]) == (4, 5, None)
        changes = page["changes"]
        assert isinstance(changes, list)
        assert [change["version"] for change in changes] == [5, 4]
        assert all(job.state == Job.State.DONE for job in Job.objects.all())
        text = text_of(viewer, URL)
        assert "It begins at v4: earlier changes cannot be shown in one" in text
        assert (
            "since the type of the column n is long, but string in later versions."
            in (text.replace("bigint", "long"))
        )

    def test_is_asked_beyond_it_only_where_somebody_says_so(self, viewer: Client):
        viewer.get(f"{URL}?from=1")
        (job,) = work()

        assert (job.state, job.error_code) == (Job.State.FAILED, "change-feed-schema")
        assert "from version 3 on" in job.error_hint
        assert "It begins at" not in text_of(viewer, f"{URL}?from=1")
