"""Two versions of a table side by side: what the log says, files, and rows."""

import csv
import io
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from apps.jobs.models import Job
from apps.tables import tasks
from apps.tables.index_folders import new_index_folder
from apps.tables.indexing import store_result
from apps.tables.models import Table
from deltaweb.delta.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.index.build import build_index
from deltaweb.storage.location import open_store
from tests.factories import new_unindexed_table, new_user
from tests.versioned_table import Row, VersionedTable

pytestmark = pytest.mark.django_db
COMPARE = "/t/default/orders/compare"
HTMX = {"HX-Request": "true"}
RUN: dict[str, Callable[..., None]] = {
    "tables.diff_files": tasks.diff_files,
    "tables.diff_rows": tasks.diff_rows,
}
LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
NARROW = StructType(
    (
        StructField("order_id", LONG),
        StructField("status", STRING),
        StructField("amount", DecimalType(10, 2)),
    )
)
WIDE = StructType(
    (*NARROW.fields, StructField("channel", STRING, metadata={"comment": "Where"}))
)


def orders(start: int, stop: int, **more: object) -> list[Row]:
    return [
        {"order_id": n, "status": "paid", "amount": Decimal(n) / 4, **more}
        for n in range(start, stop)
    ]


def write_orders(folder: Path) -> VersionedTable:
    """Write five versions: load, widen and append, merge, compact, delete."""
    table = VersionedTable(open_store(str(folder), None))
    table.commit(
        metadata=table.define(NARROW), add={"a": orders(0, 50), "b": orders(50, 100)}
    )
    table.commit(
        metadata=table.define(WIDE, {"delta.appendOnly": "false"}),
        add={"c": orders(100, 120, channel="web")},
    )
    merged = [
        {**row, "status": "shipped", "channel": "app"} if number < 5 else row
        for number, row in enumerate(orders(0, 48))
    ]
    table.commit(
        remove=["a"],
        add={"a": merged},
        operation="MERGE",
        parameters={"predicate": "(t.order_id = s.order_id)"},
    )
    table.commit(
        remove=["b", "c"],
        add={"bc": orders(50, 100) + orders(100, 120, channel="web")},
        data_change=False,
        operation="OPTIMIZE",
    )
    table.commit(remove=["a"], operation="DELETE")
    return table


@pytest.fixture
def written(tmp_path: Path) -> VersionedTable:
    return write_orders(tmp_path / "orders")


@pytest.fixture
def table(written: VersionedTable) -> Table:
    found = new_unindexed_table("orders", location=written.store.root)
    folder = new_index_folder(found.id, now=timezone.now(), mark="test")
    result = build_index(found.location, None, folder)
    store_result(found, result, now=timezone.now())
    found.refresh_from_db()
    return found


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(new_user("vera"))
    return client


def work() -> None:
    """Do what waits, as a worker does."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        RUN[job.kind](job_id=str(job.id))


def page_of(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code == 200, response.content[:500]
    return response.content.decode()


def json_of(client: Client, path: str, status: int = 200) -> dict[str, Any]:
    response = client.get(path)
    assert response.status_code == status, response.content[:500]
    return dict(json.loads(response.content))


def csv_of(client: Client, path: str) -> list[list[str]]:
    response = client.get(path)
    assert response.status_code == 200
    return list(csv.reader(io.StringIO(b"".join(response).decode())))


@pytest.mark.usefixtures("table")
class TestTheWayToAComparison:
    def test_the_tab_compares_the_newest_version_with_the_one_before(
        self, viewer: Client
    ) -> None:
        response = viewer.get(COMPARE)

        assert response.headers["Location"] == f"{COMPARE}/3...4"
        assert f'href="{COMPARE}"' in page_of(viewer, "/t/default/orders/")

    @pytest.mark.parametrize(
        ("query", "leads_to"),
        [
            pytest.param("?v=2", "1...2", id="the version that is looked at"),
            pytest.param("?v=0", "0...0", id="the first version has none before it"),
            pytest.param("?from=4&to=1", "4...1", id="two versions of the pickers"),
            pytest.param("?pick=3&pick=1", "1...3", id="two ticked in the history"),
            pytest.param("?pick=3", "2...3", id="one ticked in the history"),
            pytest.param("?from=1&to=latest", "1...4", id="the newest one by its name"),
            pytest.param("?from=latest&to=2", "4...2", id="back from the newest one"),
            pytest.param("/1...latest", "1...4", id="an address with a name"),
            pytest.param("/latest...0", "4...0", id="an address back from a name"),
            pytest.param("/1..3", "1...3", id="two dots"),
            pytest.param("/2...", "2...4", id="no end is the newest"),
            pytest.param("/2", "2...4", id="one version is where it begins"),
            pytest.param(
                "/1...latest.json?view=schema",
                "1...4.json?view=schema",
                id="a script's address with a name",
            ),
        ],
    )
    def test_an_address_leads_to_two_versions(
        self, viewer: Client, query: str, leads_to: str
    ) -> None:
        response = viewer.get(f"{COMPARE}{query}")

        assert response.headers["Location"] == f"{COMPARE}/{leads_to}"

    def test_a_version_that_is_not_there_is_404_with_the_range(
        self, viewer: Client
    ) -> None:
        response = viewer.get(f"{COMPARE}/1...99")

        assert response.status_code == 404
        assert b"Choose a version from 0 to 4" in response.content

    @pytest.mark.parametrize(
        "query",
        ["/1...newest", "/old", "/1...-2", "?from=first", f"?pick={'9' * 5000}"],
    )
    def test_what_is_no_version_is_404_with_the_range(
        self, viewer: Client, query: str
    ) -> None:
        response = viewer.get(f"{COMPARE}{query}")

        assert response.status_code == 404
        assert b"Choose a version from 0 to 4" in response.content

    def test_one_version_twice_says_so(self, viewer: Client) -> None:
        assert "That is one version twice" in page_of(viewer, f"{COMPARE}/2...2")

    @pytest.mark.parametrize("view", ["files", "rows"])
    def test_one_version_twice_says_so_to_scripts(
        self, viewer: Client, view: str
    ) -> None:
        data = json_of(viewer, f"{COMPARE}/2...2.json?view={view}")
        lines = viewer.get(f"{COMPARE}/2...2.csv?view={view}")

        assert data["warning"] == "That is one version twice: nothing differs."
        assert lines.status_code == 409
        assert b"That is one version twice." in lines.content
        assert not Job.objects.exists()

    def test_the_way_back_is_named(self, viewer: Client) -> None:
        words = "From the later version back to the earlier one"

        assert words in page_of(viewer, f"{COMPARE}/4...1?view=schema")
        assert words not in page_of(viewer, f"{COMPARE}/1...4?view=schema")

    def test_a_view_that_is_not_known_is_refused(self, viewer: Client) -> None:
        assert viewer.get(f"{COMPARE}/1...2?view=moods").status_code == 400

    def test_the_history_offers_to_tick_versions(self, viewer: Client) -> None:
        page = page_of(viewer, "/t/default/orders/history")

        assert 'name="pick"' in page
        assert f'action="{COMPARE}"' in page


@pytest.mark.usefixtures("table")
class TestWhatTheLogSays:
    def test_the_schema_is_compared_without_a_job(self, viewer: Client) -> None:
        page = page_of(viewer, f"{COMPARE}/0...4?view=schema")

        assert "channel" in page
        assert "Where" in page
        assert not Job.objects.exists()

    def test_both_versions_stand_on_the_timeline(self, viewer: Client) -> None:
        page = page_of(viewer, f"{COMPARE}/0...4?view=schema")

        assert "dw-vt-flag-b" in page
        assert "dw-vt-span" in page

    def test_the_json_form_has_the_keys_of_the_command(self, viewer: Client) -> None:
        data = json_of(viewer, f"{COMPARE}/0...4.json?view=schema")

        assert (data["from"], data["to"]) == (0, 4)
        assert [field["name"] for field in data["schema"]["added"]] == ["channel"]
        assert data["properties"]["added"] == [
            {"name": "delta.appendOnly", "value": "false"}
        ]
        assert data["protocol"] == {"added": [], "removed": [], "changed": []}

    @pytest.mark.parametrize(
        ("view", "text"),
        [
            ("properties", "delta.appendOnly"),
            ("protocol", "The protocol is the same"),
        ],
    )
    def test_other_views_show_what_changed(
        self, viewer: Client, view: str, text: str
    ) -> None:
        assert text in page_of(viewer, f"{COMPARE}/0...4?view={view}")

    def test_the_csv_form_lists_the_changes(self, viewer: Client) -> None:
        lines = csv_of(viewer, f"{COMPARE}/4...0.csv?view=schema")

        assert lines == [
            ["change", "name", "from", "to"],
            ["removed", "channel", "string", ""],
        ]


@pytest.mark.usefixtures("table")
class TestFiles:
    def test_a_job_finds_them_and_the_page_waits(self, viewer: Client) -> None:
        waiting = page_of(viewer, f"{COMPARE}/1...4")
        work()
        page = page_of(viewer, f"{COMPARE}/1...4", **HTMX)

        assert "Comparing the files of both versions" in waiting
        assert "1 removed" in page
        assert "2 rewritten into 1" in page
        assert "<html" not in page

    def test_the_json_form_counts_and_lists_them(self, viewer: Client) -> None:
        json_of(viewer, f"{COMPARE}/1...4.json", status=202)
        work()
        data = json_of(viewer, f"{COMPARE}/1...4.json")

        counts = ("added", "removed", "rewritten", "rewritten_into", "shared")
        assert [data["files"][name] for name in counts] == [0, 1, 2, 1, 0]
        assert [file["kind"] for file in data["changed_files"]] == [
            "removed",
            "rewritten",
            "rewritten",
            "rewritten_into",
        ]

    def test_a_kind_can_be_chosen(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/1...4")
        work()

        lines = csv_of(viewer, f"{COMPARE}/1...4.csv?kind=removed")

        assert [line[0] for line in lines] == ["kind", "removed"]

    def test_a_second_look_asks_for_no_second_job(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/1...4")
        work()
        viewer.get(f"{COMPARE}/1...4")

        assert Job.objects.count() == 1


@pytest.mark.usefixtures("table")
class TestRows:
    @staticmethod
    def start(client: Client, versions: str, key: str = "") -> None:
        client.get(f"{COMPARE}/{versions}?view=rows")
        response = client.post(f"{COMPARE}/{versions}/rows", {"key": key})
        assert response.status_code == 302
        work()

    def test_nothing_starts_before_somebody_has_seen_the_estimate(
        self, viewer: Client
    ) -> None:
        viewer.get(f"{COMPARE}/1...3?view=rows")
        work()
        page = page_of(viewer, f"{COMPARE}/1...3?view=rows")

        assert "Will read" in page
        assert "2 files" in page
        assert 'value="order_id"' in page
        assert "the key of the merge of version 2" in page
        assert not Job.objects.filter(kind="tables.diff_rows").exists()

    def test_without_a_merge_statistics_suggest_a_key(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/0...1?view=rows")
        work()
        page = page_of(viewer, f"{COMPARE}/0...1?view=rows")
        data = json_of(viewer, f"{COMPARE}/0...1.json?view=rows")

        assert 'value="order_id"' in page
        assert data["suggested_key"] == ["order_id"]
        assert data["suggested_because"] in page

    def test_with_a_key_changed_cells_are_marked(self, viewer: Client) -> None:
        self.start(viewer, "1...3", "order_id")
        page = page_of(viewer, f"{COMPARE}/1...3?view=rows&key=order_id")

        assert "5 changed" in page
        assert "0 inserted" in page
        assert "2 deleted" in page
        assert page.count('class="c-chg"') == 10
        assert "<del><span>paid</span></del><ins><span>shipped</span></ins>" in (
            "".join(line.strip() for line in page.splitlines())
        )

    def test_the_json_form_counts_exactly(self, viewer: Client) -> None:
        self.start(viewer, "0...4", "order_id")
        data = json_of(viewer, f"{COMPARE}/0...4.json?view=rows&key=order_id")

        rows = data["rows"]
        assert [rows[kind] for kind in ("inserted", "deleted", "updated")] == [
            20,
            50,
            0,
        ]
        assert rows["columns_only_in_to"] == ["channel"]
        assert rows["sample"]["inserted"][0]["order_id"] == "100"

    def test_all_of_it_can_be_downloaded(self, viewer: Client) -> None:
        self.start(viewer, "1...2")
        lines = csv_of(viewer, f"{COMPARE}/1...2.csv?view=rows")
        response = viewer.get(f"{COMPARE}/1...2/rows.parquet")

        table = pq.read_table(io.BytesIO(b"".join(response)))
        assert table.num_rows == len(lines) - 1 == 12
        assert table.column_names == lines[0]
        assert (
            sorted(table["_change_type"].to_pylist()) == ["delete"] * 7 + ["insert"] * 5
        )

    def test_rows_of_a_kind_can_be_chosen(self, viewer: Client) -> None:
        self.start(viewer, "1...2")
        page = page_of(viewer, f"{COMPARE}/1...2?view=rows&kind=inserted")

        assert page.count('class="c-ins"') == 5
        assert 'class="c-del"' not in page

    def test_it_is_not_begun_again(self, viewer: Client) -> None:
        self.start(viewer, "1...2")
        self.start(viewer, "1...2")

        assert Job.objects.filter(kind="tables.diff_rows").count() == 1

    def test_a_key_that_one_version_lacks_is_refused(self, viewer: Client) -> None:
        answer = viewer.get(f"{COMPARE}/0...4?view=rows&key=channel")

        assert answer.status_code == 400

    def test_a_wrong_key_leads_back_to_the_form(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/0...4?view=rows")
        work()
        asked = {"key": "channel"}
        answer = viewer.post(f"{COMPARE}/0...4/rows", asked, follow=True)
        page = answer.content.decode()

        assert answer.status_code == 200
        assert "columns that both versions have, not &#x27;channel&#x27;" in page
        assert 'name="key"' in page
        assert not Job.objects.filter(kind="tables.diff_rows").exists()

    def test_files_that_are_gone_are_named(
        self, viewer: Client, written: VersionedTable
    ) -> None:
        for file in Path(written.store.root).glob("a-1*.parquet"):
            file.unlink()
        self.start(viewer, "1...2")
        page = page_of(viewer, f"{COMPARE}/1...2?view=rows")

        assert "The rows could not be compared" in page
        assert "a-1.parquet" in page
        assert viewer.get(f"{COMPARE}/1...2.json?view=rows").status_code == 422

    def test_a_cancelled_comparison_can_be_started_again(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/1...2?view=rows")
        viewer.post(f"{COMPARE}/1...2/rows")
        job = Job.objects.get(kind="tables.diff_rows")
        viewer.post(f"/jobs/{job.id}/cancel")
        page = page_of(viewer, f"{COMPARE}/1...2?view=rows")

        assert "Cancelled" in page
        assert "Try again" in page

    def test_a_download_before_its_time_says_so(self, viewer: Client) -> None:
        assert viewer.get(f"{COMPARE}/1...2/rows.parquet").status_code == 409
        assert viewer.get(f"{COMPARE}/1...2.csv?view=rows").status_code == 409


@pytest.mark.usefixtures("table")
class TestVersionsThatCannotBeRead:
    @pytest.fixture(autouse=True)
    def unsupported(self, table: Table) -> None:
        table.protocol_versions.update(unsupported_reason="It uses teleport.")

    @pytest.mark.parametrize("view", ["files", "rows"])
    def test_files_and_rows_say_why(self, viewer: Client, view: str) -> None:
        page = page_of(viewer, f"{COMPARE}/0...4?view={view}")

        assert "It uses teleport." in page
        assert not Job.objects.exists()

    def test_what_the_log_says_is_shown_all_the_same(self, viewer: Client) -> None:
        assert "channel" in page_of(viewer, f"{COMPARE}/0...4?view=schema")

    def test_rows_cannot_be_started(self, viewer: Client) -> None:
        response = viewer.post(f"{COMPARE}/0...4/rows")

        assert response.status_code == 409
        assert not Job.objects.exists()


class TestAJobThatIsCancelledWhileItRuns:
    def test_it_stops_and_leaves_nothing(self, viewer: Client, table: Table) -> None:
        viewer.post(f"{COMPARE}/1...2/rows")
        job = Job.objects.get()
        Job.objects.filter(id=job.id).update(cancel_requested_at=timezone.now())
        work()

        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED
        home = Path(settings.HOME)
        assert not list((home / "results").glob(f"*{job.id}*"))
        assert not (home / "scratch" / str(job.id)).exists()
        assert table.full_name in job.title


class TestATableThatIsNotIndexed:
    def test_the_page_says_so(self, viewer: Client, tmp_path: Path) -> None:
        new_unindexed_table("orders", location=str(tmp_path))

        assert "orders" in page_of(viewer, COMPARE)
        assert viewer.get(f"{COMPARE}/0...1").status_code == 404
