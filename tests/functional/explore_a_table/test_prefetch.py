"""Pages that a browser fetches ahead: what is cheap is done, the rest waits."""

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.models import Table
from tests.support import cases
from tests.support.pages.factories import new_job

pytestmark = pytest.mark.django_db
AHEAD = {"Purpose": "prefetch"}


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

    def test_is_known_where_the_browser_itself_fetches_it(self, viewer: Client) -> None:
        address = "/t/default/orders/changes?from=0"

        viewer.get(address, headers={"Sec-Purpose": "prefetch;prerender"})

        assert not Job.objects.exists()

    def test_is_answered_while_others_wait_where_it_needs_no_work(self, viewer: Client):
        new_job()

        answer = viewer.get("/t/default/orders/history", headers=AHEAD)

        assert answer.status_code == 200


def test_a_page_that_somebody_opens_has_its_work_done(viewer: Client, orders: Table):
    new_job()

    answer = viewer.get("/t/default/orders/data?f=order_id:gt:3")

    assert answer.status_code == 200
    assert Job.objects.filter(subject_id=orders.id).exists()
