"""What holds for every page of a table, and where there is no table yet."""

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from apps.accounts.models import User
from apps.jobs.models import Job
from tests.functional.explore_a_table.pages import PAGES, TABLE
from tests.support.conditions.drawn_examples import examples
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.factories import (
    new_commit,
    new_metadata,
    new_table,
    new_unindexed_table,
    new_user,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]
OF_COLUMNS = ["parquet", "partitions", "schema-lanes", "schema/amount"]


@pytest.mark.parametrize("page", ["", "history", "history/2", "schema"])
def test_names_that_turn_the_direction_of_text_end_where_they_end(viewer, page):
    new_commit(new_table(summary={}), 2, user_name="\u202eeve", operation="MERGE")

    text = text_of(viewer, f"{TABLE}orders/{page}")

    assert "by <bdi>\u202eeve</bdi> (<bdi>MERGE</bdi>)" in text


@pytest.mark.parametrize("page", ["data.csv", "files.csv"])
def test_a_download_of_a_table_that_could_not_be_indexed_says_why(viewer, page):
    new_unindexed_table(error="Commit 1 is missing.")

    answer = json_of(viewer, f"{TABLE}orders/{page}", status=409)

    assert answer["message"] == "Commit 1 is missing."


class TestDashboard:
    def test_an_empty_install_is_shown_how_to_begin(self, client: Client) -> None:
        client.force_login(new_user("eve", role=User.Role.EDITOR))

        page = text_of(client, "/")

        assert "Register a table" in page
        assert "Load the sample tables" in page

    @pytest.mark.usefixtures("orders")
    def test_shows_the_newest_commits_of_all_tables(self, viewer: Client) -> None:
        page = text_of(viewer, "/")

        assert "Latest commits" in page
        assert json_of(viewer, "/dashboard.json")["tables"] == 1


class TestStates:
    @pytest.mark.parametrize("page", [*PAGES, *OF_COLUMNS])
    def test_a_table_that_is_not_indexed_yet_says_so(self, viewer: Client, page: str):
        new_unindexed_table()

        assert "has not been indexed yet" in text_of(viewer, f"{TABLE}orders/{page}")

    @pytest.mark.parametrize("page", PAGES)
    def test_an_unknown_version_is_a_404_with_the_range(self, viewer, page):
        new_table(version=21, summary={})

        response = viewer.get(f"{TABLE}orders/{page}?v=22")

        assert response.status_code == 404
        assert "from 0 to 21" in response.content.decode()

    def test_a_version_that_is_gone_offers_one_that_is_not(self, viewer: Client):
        runs = [[0, 1, "GONE", "the log was cleaned"], [2, 2, "READABLE", ""]]
        new_metadata(new_table(summary={"readable_runs": runs}), 0)

        response = viewer.get(f"{TABLE}orders/data?v=1")

        page = response.content.decode()
        assert response.status_code == 410
        assert "the log was cleaned" in page
        assert "v2, newer" in page
        assert f"{TABLE}orders/data?v=2" in page
        assert not Job.objects.exists()


NAMES = [
    "v",
    "op",
    "user",
    "from",
    "to",
    "q",
    "before",
    "partition",
    "min",
    "max",
    "sort",
    "page",
    "col",
    "f",
    "fc",
    "fo",
    "fv",
]


@pytest.fixture
def small(viewer: Client) -> Client:
    table = new_table()
    new_metadata(table)
    new_commit(table, 2)
    return viewer


@hypothesis_settings(max_examples=examples(40))
@given(
    page=st.sampled_from(["", "data", "schema", "history", "files", "history/2"]),
    suffix=st.sampled_from(["", ".json", ".csv"]),
    query=st.dictionaries(st.sampled_from(NAMES), st.text(max_size=40), max_size=5),
)
def test_a_hostile_query_never_breaks_a_page(small, page, suffix, query):
    path = f"{TABLE}orders/{page}{suffix}" if page else f"{TABLE}orders/"

    response = small.get(path, query)

    assert response.status_code < 500
