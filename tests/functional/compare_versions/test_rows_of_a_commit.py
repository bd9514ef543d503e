"""A commit leads to the rows that it changed, by one click."""

import re

import pytest
from django.test import Client, override_settings

from apps.tables.models import Commit
from tests.functional.compare_versions.compared_orders import COMPARE, work
from tests.support import cases
from tests.support.pages.answers import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("table")]

PAGE = "/t/default/orders/history/2"
ROWS = f"{COMPARE}/1...2/rows"


def test_one_click_compares_them_by_the_key_that_is_suggested(viewer: Client) -> None:
    page = text_of(viewer, PAGE)
    assert f'action="{ROWS}"' in page
    assert 'name="by" value="suggestion"' in page

    leads_to = viewer.post(ROWS, {"by": "suggestion"}).headers["Location"]
    work()
    rows = text_of(viewer, leads_to)

    assert leads_to == f"{COMPARE}/1...2?view=rows&key=order_id"
    assert re.search(r"\d+ (?:changed|added|removed)", rows)


@override_settings(SPARK_DIFF_BYTES=0)
def test_a_large_commit_shows_first_what_that_will_read(viewer: Client) -> None:
    page = text_of(viewer, PAGE)

    assert f'action="{ROWS}"' not in page
    assert f'href="{COMPARE}/1...2?view=rows"' in page


@cases(
    "change",
    {
        "no file": {"num_added_files": 0, "num_removed_files": 0},
        "files are gone": {"readability": Commit.Readability.GONE},
    },
)
def test_there_is_no_way_where_there_are_no_rows(viewer, change):
    Commit.objects.filter(version=2).update(**change)

    assert "Changed rows" not in text_of(viewer, PAGE)
