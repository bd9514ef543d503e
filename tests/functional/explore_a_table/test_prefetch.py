"""Pages that a browser fetches ahead: what is cheap is done, the rest waits."""

import json

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from deltaweb.web.jobs.models import Job
from deltaweb.web.tables.models import Table
from tests.support import cases
from tests.support.pages.factories import new_job

pytestmark = pytest.mark.django_db
AHEAD = {"Sec-Purpose": "prefetch"}


@pytest.mark.usefixtures("orders")
class TestAPageThatIsFetchedAhead:
    def test_has_its_first_rows_read(self, viewer: Client) -> None:
        answer = viewer.get("/t/default/orders/data", headers=AHEAD)

        assert answer.status_code == 200
        assert Job.objects.get().kind == "tables.preview_rows"

    @cases(
        "address",
        {
            "a condition": "data?f=order_id:gt:3",
            "rows far back": "data?page=400",
            "a change feed": "changes?from=0",
        },
    )
    def test_begins_no_work_that_may_take_long(self, viewer: Client, address: str):
        answer = viewer.get(f"/t/default/orders/{address}", headers=AHEAD)

        assert answer.status_code in {503, 200}
        assert not Job.objects.exists()

    def test_begins_none_while_others_wait(self, viewer: Client) -> None:
        new_job()

        answer = viewer.get("/t/default/orders/data", headers=AHEAD)

        assert answer.status_code == 503
        assert Job.objects.count() == 1

    def test_is_answered_while_others_wait_where_it_needs_no_work(self, viewer: Client):
        new_job()

        answer = viewer.get("/t/default/orders/history", headers=AHEAD)

        assert answer.status_code == 200


def test_a_page_that_somebody_opens_has_its_work_done(viewer: Client, orders: Table):
    new_job()

    answer = viewer.get("/t/default/orders/data?f=order_id:gt:3")

    assert answer.status_code == 200
    assert Job.objects.filter(subject_id=orders.id).exists()


def test_pages_name_their_rules_to_who_is_signed_in(viewer: Client, orders: Table):
    page = viewer.get(orders.get_absolute_url())

    assert page["Speculation-Rules"].startswith('"/static/prefetch')
    assert "Speculation-Rules" not in Client().get("/accounts/sign-in")
    assert "Speculation-Rules" not in viewer.get("/status.json")


@pytest.mark.parametrize(
    "said", [{"Save-Data": "on"}, {"ECT": "3g"}, {"ECT": "slow-2g"}]
)
def test_pages_name_none_on_a_line_that_is_metered_or_slow(viewer, orders, said):
    url = orders.get_absolute_url()

    assert "Speculation-Rules" not in viewer.get(url, headers=said)
    assert "Speculation-Rules" in viewer.get(url, headers={"ECT": "4g"})
    assert viewer.get(url)["Accept-CH"] == "ECT"


def test_the_rules_ask_for_pages_of_tables_alone() -> None:
    path = finders.find("prefetch.rules")
    assert isinstance(path, str)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 (a found name)
        pointer, keyboard = json.load(file)["prefetch"]

    assert pointer["eagerness"] == "moderate"  # where a pointer rests, two at a time
    assert pointer["where"]["and"][0] == {"href_matches": ["/t/*", "/*/t/*"]}
    rested = {"selector_matches": "[data-rested]"}
    assert keyboard["where"]["and"] == [*pointer["where"]["and"], rested]
