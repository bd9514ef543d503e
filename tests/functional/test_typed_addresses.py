"""Addresses as people type them and forms write them."""

import pytest
from django.test import Client

from tests.support.pages.factories import new_commit, new_table, new_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]
TABLE = "/t/sales/orders"


@pytest.fixture
def viewer(client: Client) -> Client:
    new_commit(new_table("sales.orders"), 2)
    client.force_login(new_user("vera"))
    return client


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        pytest.param(f"{TABLE}/schema/", f"{TABLE}/schema", id="a slash too many"),
        pytest.param(f"{TABLE}/history/2/", f"{TABLE}/history/2", id="of a commit"),
        pytest.param(TABLE, f"{TABLE}/", id="a slash too few"),
        pytest.param("/t//sales/orders//", f"{TABLE}/", id="two for one"),
        pytest.param(f"{TABLE}/overview", f"{TABLE}/", id="the overview by its name"),
        pytest.param(f"{TABLE}/overview/", f"{TABLE}/", id="with a slash"),
        pytest.param(f"{TABLE}/overview.json", f"{TABLE}.json", id="its machine form"),
        pytest.param("/tables/.json", "/tables.json", id="a machine form of a folder"),
        pytest.param("/search/", "/search", id="the search"),
    ],
)
def test_a_slash_too_many_or_too_few_leads_to_the_page(viewer, typed, meant):
    answer = viewer.get(f"{typed}?v=2&q=%C3%BC")

    assert answer.status_code in {301, 302}
    assert answer["Location"] == f"{meant}?v=2&q=%C3%BC"
    assert viewer.get(meant).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(f"{TABLE}/nothing/", id="no page"),
        pytest.param("/tables/load-samples/", id="what only forms send to"),
        pytest.param("/delta-sharing/shares/", id="the protocol"),
        pytest.param(f"{TABLE}x/overview", id="a table that is not there"),
    ],
)
def test_anything_else_is_not_there(viewer: Client, path: str) -> None:
    answer = viewer.get(path, follow=True)

    assert answer.status_code == 404


@pytest.mark.parametrize("path", ["//jobs/", "///jobs//"])
def test_nobody_is_led_to_another_host(viewer: Client, path: str) -> None:
    answer = viewer.get("/", PATH_INFO=path)

    assert answer["Location"] == "/jobs/"


def test_a_form_that_is_sent_so_is_not_led_elsewhere(viewer: Client) -> None:
    assert viewer.post("/jobs//").status_code in {403, 404}


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        pytest.param(
            "/tables/?q=&namespace=&sort=size", "/tables/?sort=size", id="some"
        ),
        pytest.param("/jobs/?state=&kind=&q=", "/jobs/", id="all"),
        pytest.param(
            f"{TABLE}/history?q=&op=WRITE&op=MERGE&from=",
            f"{TABLE}/history?op=WRITE&op=MERGE",
            id="not those of several values",
        ),
        pytest.param(
            "/search?q=a%20b&kind=", "/search?q=a%20b", id="texts stay as they are"
        ),
    ],
)
def test_empty_parameters_leave_the_address(viewer: Client, path: str, clean: str):
    answer = viewer.get(path)

    assert (answer.status_code, answer["Location"]) == (302, clean)
    assert viewer.get(clean).status_code in {200, 404}


@pytest.mark.parametrize(
    "path", ["/tables.json?q=", "/jobs.csv?state=", "/tables/?add"]
)
def test_scripts_and_bare_words_are_answered_at_once(viewer: Client, path: str) -> None:
    assert viewer.get(path).status_code == 200
