"""A column of a table: what files tell, how it came about, and its profile."""

import json
from html import unescape
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from django.test import Client

from apps.jobs.models import Job
from apps.tables.models import Table
from tests.support import cases
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.logs.local_logs import typed_schema
from tests.support.pages.answers import json_of, newest_job_done, text_of
from tests.support.pages.factories import (
    NOW,
    new_metadata,
    new_table,
    new_unindexed_table,
)
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db
SCHEMA = "/t/default/orders/schema"
PROFILE = {
    "version": 21,
    "column": ["amount"],
    "type_text": "double",
    "num_rows": 5568,
    "num_nulls": 0,
    "num_nan": 0,
    "num_distinct": 5000,
    "minimum": "1.5",
    "maximum": "99.5",
    "mean": 50.25,
    "deviation": 12.0,
    "quantiles": [[0.0, "1.5"], [0.5, "50.0"], [1.0, "99.5"]],
    "top": [["12.5", 40], ["", 3]],
    "top_error": 2,
    "min_length": None,
    "max_length": None,
    "mean_length": None,
    "num_empty": None,
    "histogram": [["0", "50", 2784], ["50", "100", 2784]],
    "is_histogram_exact": True,
}


@pytest.mark.usefixtures("orders")
class TestColumn:
    def test_shows_what_files_tell_of_it(self, viewer: Client) -> None:
        page = text_of(viewer, f"{SCHEMA}/amount")

        assert "Range of each file" in page
        assert "files have min and max" in page
        assert "First known with type" in page
        assert "Profile this column" in page
        assert " style=" not in page

    def test_the_json_form_has_the_ranges(self, viewer: Client) -> None:
        data = json_of(viewer, f"{SCHEMA}/order_id.json")
        statistics = data["statistics"]

        assert isinstance(statistics, dict)
        assert (statistics["files"], statistics["files_with_min_max"]) == (84, 84)
        assert statistics["null_percent"] == 0
        assert isinstance(statistics["min"], str)
        bars = statistics["ranges"]["bars"]
        assert len(bars) == 60
        assert sum(bar["files"] for bar in bars) == 84
        assert data["profile"] is None

    def test_a_partition_column_is_told_by_its_values(self, viewer: Client) -> None:
        data = json_of(viewer, f"{SCHEMA}/country.json")

        assert data["column"]["partition"] is True
        assert data["statistics"]["files_with_min_max"] == 84

    def test_the_schema_leads_to_it(self, viewer: Client) -> None:
        assert f'href="{SCHEMA}/amount"' in text_of(viewer, SCHEMA)

    def test_an_unknown_column_is_a_404_that_helps(self, viewer: Client) -> None:
        response = viewer.get(f"{SCHEMA}/amountt.json")

        assert response.status_code == 404
        assert "amount" in response.json()["hint"]

    def test_an_older_version_says_that_the_newest_is_indexed(self, viewer: Client):
        page = text_of(viewer, f"{SCHEMA}/amount?v=3")

        assert "indexed for the newest version only" in page


def test_nulls_that_may_be_of_deleted_rows_are_not_called_uncounted(
    viewer: Client, tmp_path: Path
) -> None:
    builder = TableBuilder(tmp_path).property("delta.enableDeletionVectors")
    marked = builder.rows(id=[None, 1, 2, 3]).then(lambda table: table.delete("id = 3"))
    marked.registered_as("masked")

    page = text_of(viewer, "/t/default/masked/schema/id")

    assert "rows were deleted since they were counted" in page
    assert "no file has statistics" not in page


class TestProfile:
    def ask(self, client: Client, column: str, **fields: str) -> int:
        url = "/t/default/orders/profile"
        return client.post(url, {"column": column, **fields}).status_code

    def test_is_queued_once_and_shown_when_done(self, viewer: Client, orders: Table):
        assert self.ask(viewer, "amount") == 302
        assert self.ask(viewer, "amount") == 302
        job = Job.objects.get()
        waiting = text_of(viewer, f"{SCHEMA}/amount")
        Job.objects.filter(id=job.id).update(
            state=Job.State.DONE, result=PROFILE, finished_at=NOW
        )
        page = text_of(viewer, f"{SCHEMA}/amount")
        assert page.index("Histogram") < page.index("Range of each file")

        assert job.parameters == {
            "table_id": str(orders.id),
            "version": 21,
            "column": ["amount"],
        }
        assert "Reading the column" in waiting
        assert "No worker has reported yet" in waiting
        assert "Profile of v21" in page
        assert "each count may differ by up to 2" in page
        assert json_of(viewer, f"{SCHEMA}/amount.json")["profile"] == PROFILE
        assert "Profile of v21" not in text_of(viewer, f"{SCHEMA}/order_id")

    @pytest.mark.usefixtures("orders")
    def test_a_failure_says_why_and_can_be_tried_again(self, viewer: Client) -> None:
        self.ask(viewer, "amount")
        Job.objects.update(
            state=Job.State.FAILED,
            error="The data file part-1.parquet cannot be read: it is damaged.",
            finished_at=NOW,
        )

        page = text_of(viewer, f"{SCHEMA}/amount")

        assert "The column could not be read" in page
        assert "part-1.parquet" in page
        assert "Try again" in page

    @pytest.mark.usefixtures("orders")
    def test_of_an_older_release_has_no_histogram(self, viewer: Client) -> None:
        self.ask(viewer, "amount")
        older = {k: v for k, v in PROFILE.items() if "histogram" not in k}
        Job.objects.update(state=Job.State.DONE, result=older, finished_at=NOW)

        page = text_of(viewer, f"{SCHEMA}/amount")

        assert "Profile of v21" in page
        assert "Histogram" not in page

    @pytest.mark.usefixtures("orders")
    def test_is_not_asked_for_by_a_link(self, viewer: Client) -> None:
        assert viewer.get("/t/default/orders/profile").status_code == 405
        assert self.ask(viewer, "nowhere") == 404

    def test_nothing_is_read_before_there_is_an_index(self, viewer: Client) -> None:
        new_unindexed_table("orders")

        assert self.ask(viewer, "amount") == 409


class TestOddNames:
    @pytest.fixture
    def odd(self, tmp_path: Path) -> Table:
        rows = pa.table(
            {
                "a.b": [1],
                "a": [{"b": "x", "c/d": 2}],
                "rows.json": [3],
                "50 % & more?": [4],
                "list": [[{"inner": 5}]],
            }
        )
        write_deltalake(str(tmp_path / "odd"), rows)
        return new_indexed_table("odd", tmp_path / "odd")

    @cases(
        "address, names",
        {
            "a field": ("a.b", ["a", "b"]),
            "a name with a dot": ("%60a.b%60", ["a.b"]),
            "a name with a slash": ("a.c/d", ["a", "c/d"]),
            "signs": ("50%20%25%20%26%20more%3F", ["50 % & more?"]),
            "a name like a machine form": ("rows.json", ["rows.json"]),
            "within a list": ("list.inner", ["list", "inner"]),
        },
    )
    def test_each_has_a_page(self, viewer, odd, address, names):
        data = json_of(viewer, f"/t/default/{odd.name}/schema/{address}.json")

        assert data["column"]["names"] == names

    @pytest.mark.usefixtures("odd")
    def test_a_name_like_a_machine_form_has_a_page_for_people(self, viewer: Client):
        assert "<html" in text_of(viewer, "/t/default/odd/schema/rows.json")

    @pytest.mark.usefixtures("odd")
    def test_the_links_of_the_schema_all_work(self, viewer: Client) -> None:
        page = text_of(viewer, "/t/default/odd/schema")
        links = [
            unescape(part.split('"', 1)[0])
            for part in page.split('class="x-plain x-wrap" href="')[1:]
        ]

        assert len(links) == 8
        assert all(viewer.get(link).status_code == 200 for link in links)

    @pytest.mark.usefixtures("odd")
    def test_what_is_within_a_list_has_no_profile(self, viewer: Client) -> None:
        page = text_of(viewer, "/t/default/odd/schema/list.inner")

        assert "No profile" in page


class TestHistory:
    def test_tells_of_the_fields_inside_and_of_partitions(self, viewer: Client) -> None:
        table = new_table("orders", version=3, latest_version_seen=3)

        def schema(**inside: str) -> str:
            fields = json.loads(typed_schema(s="", n="long"))["fields"]
            fields[0]["type"] = json.loads(typed_schema(**inside))
            return json.dumps({"type": "struct", "fields": fields})

        new_metadata(table, 0, schema_string=schema(n="long"))
        new_metadata(table, 2, schema_string=schema(n="long", m="long"))
        new_metadata(table, 3, schema_string=schema(n="long"), partition_columns=["n"])

        assert self.told(viewer, "s") == [
            (3, "dropped", "m: dropped"),
            (2, "added", "m: added as bigint"),
            (0, "added", "First known with type struct"),
        ]
        assert self.told(viewer, "n") == [
            (3, "partition", "Now a partition column"),
            (0, "added", "First known with type bigint"),
        ]

    def told(self, viewer: Client, column: str) -> list[tuple[int, str, str]]:
        history = json_of(viewer, f"{SCHEMA}/{column}.json")["history"]
        return [(one["version"], one["kind"], one["text"]) for one in history]

    def test_tells_what_versions_made_of_the_column(self, viewer: Client) -> None:
        table = new_table("orders", version=4, latest_version_seen=4)
        commented = typed_schema(id="long", n="long").removesuffix("{}}]}")
        for version, schema in (
            (0, typed_schema(id="long")),
            (1, typed_schema(id="long", n="integer")),
            (2, typed_schema(id="long", n="long")),
            (4, commented + '{"comment": "x"}}]}'),
        ):
            new_metadata(table, version, schema_string=schema)

        assert self.told(viewer, "n") == [
            (4, "comment", "Comment changed"),
            (2, "type", "Type changed from int to bigint"),
            (1, "added", "Added as int"),
        ]
        assert json_of(viewer, f"{SCHEMA}/n.json")["statistics"] is None


@pytest.mark.usefixtures("orders")
class TestProfileOfAllColumns:
    def done(self, client: Client) -> Job:
        assert client.post("/t/default/orders/profiles").status_code == 302
        assert client.post("/t/default/orders/profiles").status_code == 302
        return newest_job_done()

    def test_is_made_once_and_shown_beside_each_column(self, viewer: Client) -> None:
        assert "Profile all columns" in text_of(viewer, SCHEMA)
        self.done(viewer)

        page = text_of(viewer, SCHEMA)

        assert Job.objects.filter(kind="tables.profile_columns").count() == 1
        assert "Most frequent" in page
        assert "All columns profiled" in page
        columns = {
            one["name"]: one.get("profile")
            for one in json_of(viewer, f"{SCHEMA}.json")["columns"]
        }
        assert columns["order_id"] == {
            "rows": 5568,
            "nulls": 0,
            "distinct": 5568,
            "most_frequent": columns["order_id"]["most_frequent"],
        }

    def test_is_the_profile_of_each_column_too(self, viewer: Client) -> None:
        self.done(viewer)

        found = json_of(viewer, f"{SCHEMA}/country.json")["profile"]

        assert found["num_rows"] == 5568
        assert found["num_distinct"] == len(found["top"])
        assert "Profile of v21" in text_of(viewer, f"{SCHEMA}/country")

    def test_is_that_of_its_version_alone(self, viewer: Client) -> None:
        self.done(viewer)

        assert "Most frequent" not in text_of(viewer, f"{SCHEMA}?v=3")
        assert json_of(viewer, f"{SCHEMA}/country.json?v=3")["profile"] is None

    def test_shows_how_far_it_is(self, viewer: Client) -> None:
        viewer.post("/t/default/orders/profiles")

        assert "Profiling all columns" in text_of(viewer, SCHEMA)
        assert "Reading the column" in text_of(viewer, f"{SCHEMA}/amount")

    def test_of_a_table_made_again_at_its_place_is_not_shown(self, viewer: Client):
        self.done(viewer)
        Table.objects.update(delta_id="6f0c5c1e-0000-4000-8000-000000000000")

        assert "Most frequent" not in text_of(viewer, SCHEMA)
