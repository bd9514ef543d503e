"""The values of columns that have few, with their rows, beside the rows."""

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.jobs.models import Job
from apps.tables.models import Table
from tests.functional.explore_a_table.pages import HTMX, TABLE, work
from tests.support.pages.answers import json_of, newest_job_done, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("orders")]

ORDERS = f"{TABLE}orders/data"
PROFILES = f"{TABLE}orders/profiles"
PROFILE = f"{TABLE}orders/profile"


def facets(client: Client, query: str = "") -> dict[str, dict[str, object]]:
    """Return the facets of the page by column."""
    answer = client.get(f"{ORDERS}.json{query}")
    return {one["column"]: one for one in answer.json()["facets"]}


def counts(facet: dict[str, object]) -> dict[str | None, int]:
    values = facet["values"]
    assert isinstance(values, list)
    return {one["text"]: one["rows"] for one in values}


class TestPartitionColumn:
    def test_its_values_come_with_exact_counts_from_the_log(self, viewer: Client):
        assert [*facets(viewer)] == ["order_date", "country"]
        facet = facets(viewer)["country"]

        assert facet["counts"] == "exact"
        assert facet["is_whole"]
        found = counts(facet)
        assert sum(found.values()) == 5_568
        assert [*found.values()] == sorted(found.values(), reverse=True)

    def test_a_click_filters_and_another_click_lets_go(self, viewer: Client):
        page = text_of(viewer, ORDERS)
        assert 'href="/t/default/orders/data?f=country%3Aeq%3ADE"' in page

        page = text_of(viewer, f"{ORDERS}?f=country:eq:DE&facet=country")

        assert 'href="/t/default/orders/data?facet=country"' in page
        assert 'aria-current="true"' in page

    def test_conditions_on_it_are_counted_exactly(self, viewer: Client):
        everything = counts(facets(viewer)["country"])

        facet = facets(viewer, "?f=country:eq:DE")["country"]

        assert counts(facet) == {"DE": everything["DE"]}
        assert facet["counts"] == "exact"

    def test_conditions_on_others_leave_at_most_so_many(self, viewer: Client):
        facet = facets(viewer, "?f=order_id:gt:100004")["country"]

        assert facet["counts"] == "at most"

    def test_of_an_older_version_nothing_is_known(self, viewer: Client):
        assert facets(viewer, "?v=0") == {}


class TestOtherColumns:
    def test_a_profile_brings_the_columns_that_have_few_values(self, viewer: Client):
        viewer.post(PROFILES)
        newest_job_done()

        found = facets(viewer)

        assert "express" in found
        assert "order_id" not in found
        assert found["express"]["counts"] == "exact"
        assert sum(counts(found["express"]).values()) == 5_568

    def test_with_a_condition_they_are_of_all_rows(self, viewer: Client):
        viewer.post(PROFILES)
        newest_job_done()

        facet = facets(viewer, "?f=order_id:gt:100004")["express"]

        assert facet["counts"] == "all rows"

    def test_one_without_a_profile_offers_to_count_its_values(self, viewer: Client):
        address = f"{ORDERS}?facet=express"
        assert "Count its values" in text_of(viewer, address)
        asked = {"column": "express", "next": address}

        answer = viewer.post(PROFILE, asked)
        newest_job_done()

        assert answer.headers["Location"] == address
        assert [*facets(viewer, "?facet=express")] == ["express"]
        assert "Count its values" not in text_of(viewer, address)

    def test_it_never_leads_to_another_host(self, viewer: Client):
        asked = {"column": "express", "next": "https://example.org/"}

        answer = viewer.post(PROFILE, asked)

        assert answer.headers["Location"].startswith("/t/default/orders/schema/express")

    def test_a_column_that_is_not_there_is_left_out(self, viewer: Client):
        assert facets(viewer, "?facet=nothing") == {}


class TestSuggestions:
    def options(self, client: Client, query: str) -> str:
        return text_of(client, f"{ORDERS}?suggest=1&{query}", **HTMX)

    def test_the_value_field_suggests_values_of_the_column(self, viewer: Client):
        assert 'value="DE"' in self.options(viewer, "fc=country&fo=eq&fv=d")
        assert 'value="DE"' not in self.options(viewer, "fc=country&fo=eq&fv=f")

    def test_it_suggests_nothing_of_what_is_not_known(self, viewer: Client):
        assert "<option" not in self.options(viewer, "fc=order_id&fo=eq&fv=1")
        assert "<option" not in self.options(viewer, "fv=1")
        assert "<option" not in self.options(viewer, "fc=country&f=none:eq:1")
        assert not Job.objects.exists()


def test_markup_in_a_value_is_text(viewer: Client):
    viewer.post(PROFILE, {"column": "express"})
    job = newest_job_done()
    assert isinstance(job.result, dict)
    job.result["top"] = [["<b>x</b>", 3], ["y", 2]]
    job.result["num_distinct"] = 2
    job.save()

    page = text_of(viewer, f"{ORDERS}?facet=express")

    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page


def test_they_take_one_query_without_profiles(
    viewer: Client, django_assert_max_num_queries: DjangoAssertNumQueries
):
    viewer.get(ORDERS)
    work()
    viewer.get(ORDERS)
    assert Table.objects.count() == 1

    with django_assert_max_num_queries(20):
        json_of(viewer, f"{ORDERS}.json")
