"""What every page of an operation keeps to, whatever the operation."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.jobs.models import Job
from apps.sharing.activity.action_words import WORDS
from apps.tables.operations.definition.change_columns import ACTIONS
from apps.tables.urls import PAGES
from tests.support.pages.factories import new_unindexed_table
from tests.support.pages.operated import work_newest
from tests.support.tables.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
TABLE = "/t/default/orders/"
# A file that is brought in belongs to who brings it: `adding_data` has its page.
SLUGS = [page.slug for page in PAGES if not page.adds]
# What each is asked, by the fields of its form.
ASKED = {
    "checkpoint": {"version": "1"},
    "cleanup": {},
    "columns": {"way": "add", "name": "remark", "type": "STRING"},
    "comments": {"text": "All orders"},
    "constraints": {"way": "add", "name": "positive", "sql": "id > 0"},
    "delete-rows": {"where": "id = 10"},
    "optimize": {},
    "properties": {"name": "owner", "value": "ana"},
    "protocol": {"reader": "1", "writer": "4"},
    "restore": {"version": "1"},
    "undo": {"version": "2"},
    "update-rows": {"column": "id", "value": "1", "where": "id = 10"},
    "vacuum": {},
}
CHOSEN = {"vacuum": {"hours": "168"}}  # after the look
OF_SETTINGS = ("properties", "columns", "comments", "constraints", "protocol")
OF_SCHEMA = ("columns", "comments", "constraints")
UNKNOWN = "b6f5c1a4-4f53-4a6e-8f0e-0a4a4d3c2b1a"


def test_every_page_is_asked_here() -> None:
    assert set(SLUGS) == set(ASKED)


@pytest.mark.usefixtures("orders")
def test_viewers_neither_open_one_nor_ask(viewer: Client) -> None:
    for page in (f"{TABLE}{slug}{form}" for slug in SLUGS for form in ("", ".json")):
        assert viewer.get(page).status_code == 403, page
        asked = ASKED[page.removeprefix(TABLE).removesuffix(".json")]
        assert viewer.post(page, asked).status_code == 403, page
    assert not Job.objects.exists()


@pytest.mark.usefixtures("orders")
def test_viewers_find_none(viewer: Client) -> None:
    for page in (TABLE, f"{TABLE}schema"):
        shown = page_text(viewer, page)
        assert [slug for slug in SLUGS if f'href="{TABLE}{slug}"' in shown] == []


@pytest.mark.usefixtures("orders")
def test_editors_find_them_and_they_ask(editor: Client) -> None:
    shown = {
        place: page_text(editor, place)
        for place in (TABLE, f"{TABLE}settings", f"{TABLE}schema")
    }

    for slug in SLUGS:
        places = [f"{TABLE}settings"] if slug in OF_SETTINGS else [TABLE]
        places += [f"{TABLE}schema"] if slug in OF_SCHEMA else []
        for place in places:
            assert f'href="{TABLE}{slug}"' in shown[place], slug
        assert "This changes nothing." in page_text(editor, f"{TABLE}{slug}"), slug


def test_a_table_that_is_none_is_not_found(editor: Client) -> None:
    for slug in SLUGS:
        assert editor.get(f"{TABLE}{slug}").status_code == 404, slug


def test_of_a_table_without_an_index_they_wait(editor: Client) -> None:
    new_unindexed_table("orders")

    for slug in SLUGS:
        assert "has not been indexed yet" in page_text(editor, f"{TABLE}{slug}"), slug
        assert editor.post(f"{TABLE}{slug}", ASKED[slug]).status_code == 409, slug


@pytest.mark.usefixtures("orders")
def test_a_look_that_is_none_is_refused(editor: Client) -> None:
    seen = {"seen": UNKNOWN}

    for slug in SLUGS:
        assert editor.post(f"{TABLE}{slug}.json", seen).status_code == 409, slug
        assert editor.post(f"{TABLE}{slug}", seen).status_code == 302, slug
    assert not Job.objects.exists()


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.usefixtures("orders")
def test_a_script_looks_and_agrees(editor: Client, slug: str) -> None:
    page = f"{TABLE}{slug}"
    answer = editor.post(f"{page}.json", ASKED[slug])
    assert answer.status_code == 202, answer.content
    look = work_newest()
    assert page_json(editor, page)["job"]["result"]["counts"] is not None

    answer = editor.post(f"{page}.json", {"seen": str(look.id), **CHOSEN.get(slug, {})})

    assert answer.json()["job"]["parameters"]["seen"]["job"] == str(look.id)
    done = work_newest()
    assert (done.state, done.error) == (Job.State.DONE, "")
    assert page_json(editor, page)["job"]["result"]["is_done"] is True


def test_their_places_have_their_names() -> None:
    for slug in (page.slug for page in PAGES):
        address = reverse(f"tables:table-{slug}", args=["default", "orders"])
        assert address == f"{TABLE}{slug}"


def test_every_action_has_its_words() -> None:
    said = [page.operation.action for page in PAGES]

    assert {one for one in said if isinstance(one, str)} <= {*WORDS}
    assert {*ACTIONS.values()} <= {*WORDS}
