"""The partitions of a table: how large, how even, and where their files are."""

import csv
import io
from pathlib import Path

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.work.version_files import VERSION_FILES
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.answers import json_of, text_of

pytestmark = pytest.mark.django_db
ORDERS = "/t/default/orders/partitions"


@pytest.mark.usefixtures("orders")
class TestPartitions:
    def test_shows_each_partition_with_a_link_to_its_files(self, viewer: Client):
        page = text_of(viewer, ORDERS)

        assert "84" in page
        assert "/t/default/orders/files?partition=order_date%3D" in page
        assert '<script id="partition-grid" type="application/json">' in page
        assert '<script id="lorenz" type="application/json">' in page
        assert " style=" not in page

    def test_the_links_lead_to_the_files_of_the_partition(self, viewer: Client) -> None:
        page = text_of(viewer, ORDERS)
        link = page.split('class="dw-link x-wrap" href="', 1)[1].split('"', 1)[0]

        files = text_of(viewer, link.replace("&amp;", "&"))

        assert "1 of 84" in files

    def test_the_json_form_has_the_same_numbers(self, viewer: Client) -> None:
        data = json_of(viewer, f"{ORDERS}.json?sort=-files")
        skew = data["skew"]

        assert (data["count"], data["num_partitions"]) == (84, 84)
        assert len(data["partitions"]) == 50
        assert data["next"] == f"http://testserver{ORDERS}.json?sort=-files&page=2"
        assert skew["gini"] > 0

    def test_the_csv_form_has_every_partition_of_the_filter(self, viewer: Client):
        response = viewer.get(f"{ORDERS}.csv?partition=country=DE&sort=values")
        lines = list(csv.reader(io.StringIO(b"".join(response).decode())))

        assert lines[0][:4] == ["order_date", "country", "files", "bytes"]
        assert {line[1] for line in lines[1:]} == {"DE"}
        assert [line[0] for line in lines[1:]] == sorted(line[0] for line in lines[1:])

    @pytest.mark.parametrize(
        "query", ["sort=colour", "partition=amount=3", "picture=pie", "page=0"]
    )
    def test_an_address_that_cannot_be_read_says_so(self, viewer: Client, query: str):
        data = json_of(viewer, f"{ORDERS}.json?{query}", 400)

        assert data["error"] == "query-invalid"

    def test_an_older_version_comes_from_a_job(self, viewer: Client) -> None:
        waiting = text_of(viewer, f"{ORDERS}?v=3")
        job = Job.objects.get()
        VERSION_FILES.work(job.id)
        page = text_of(viewer, f"{ORDERS}?v=3")

        assert "Listing the files of this version" in waiting
        assert "× median" in page
        assert "v=3" in page

    def test_is_reached_from_the_files(self, viewer: Client) -> None:
        assert f'href="{ORDERS}"' in text_of(viewer, "/t/default/orders/files")


class TestOtherTables:
    def test_an_unpartitioned_table_says_so(self, viewer: Client, lake: Path) -> None:
        new_sample_table("customers", lake / "customers")

        page = text_of(viewer, "/t/default/customers/partitions")

        assert "This table is not partitioned" in page
