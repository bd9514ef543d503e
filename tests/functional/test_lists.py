"""What every list of numbered pages promises, whatever it is of."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest
from django.test import Client

from apps.accounts.models import User
from tests.support.pages.factories import (
    NOW,
    new_job,
    new_recipient,
    new_share,
    new_table,
    new_user,
    signed_in,
)

pytestmark = pytest.mark.django_db
NAMES: Final = [f"n{number:02}" for number in range(59)]


def new_jobs(names: list[str]) -> None:
    for age, name in enumerate(names):  # the newest is the first
        new_job(title=name, created_at=NOW - timedelta(minutes=age))


def each(make: Callable[[str], object]) -> Callable[[list[str]], None]:
    return lambda names: [make(name) for name in names].clear()


LISTS: Final = [
    pytest.param("/tables", "tables", "name", each(new_table), id="tables"),
    pytest.param("/jobs", "jobs", "title", new_jobs, id="jobs"),
    pytest.param("/shares", "shares", "name", each(new_share), id="shares"),
    pytest.param(
        "/recipients", "recipients", "name", each(new_recipient), id="recipients"
    ),
    pytest.param("/admin-area", "users", "name", each(new_user), id="people"),
]


@pytest.fixture
def admin() -> Client:
    return signed_in("ada", role=User.Role.ADMIN)


@pytest.mark.parametrize(("path", "entries", "key", "make"), LISTS)
def test_pages_follow_each_other_and_csv_has_them_all(admin, path, entries, key, make):
    make(NAMES)

    found, following = [], f"{path}.json"
    while following:
        answer = admin.get(following).json()
        found += [entry[key] for entry in answer[entries]]
        assert answer["count"] in {len(NAMES), len(NAMES) + 1}  # with Ada herself
        following = answer["next"]
    lines = csv.DictReader(io.StringIO(admin.get(f"{path}.csv").getvalue().decode()))

    assert [name for name in found if name != "ada"] == NAMES
    assert [line[key] for line in lines] == found


@pytest.mark.parametrize(
    "query", ["sort=colour", "page=0", "page=x", "page=99999999999999999999"]
)
@pytest.mark.parametrize("path", [str(one.values[0]) for one in LISTS])
def test_an_address_that_makes_no_sense_is_a_400(admin: Client, path: str, query: str):
    refused = admin.get(f"{path}.json?{query}")

    assert admin.get(f"{path}/?{query}").status_code == refused.status_code == 400
    assert refused.json()["error"] == "query-invalid"
    assert query.partition("=")[0] in refused.json()["message"]


@pytest.mark.parametrize(
    ("path", "one", "filtered"),
    [
        ("/tables/", "table", "q=zzz"),
        ("/jobs/", "job", "state=FAILED"),
        ("/shares/", "share", "q=zzz"),
        ("/recipients/", "recipient", "q=zzz"),
    ],
)
def test_a_list_tells_none_yet_from_none_that_match(admin, path, one, filtered):
    assert f"No {one}s yet" in admin.get(path).content.decode()

    for make in (new_jobs, *map(each, (new_table, new_share, new_recipient))):
        make(["n"])

    assert f"No {one} matches" in admin.get(f"{path}?{filtered}").content.decode()


@pytest.mark.parametrize("path", ["/tables/", "/shares/"])
def test_htmx_gets_the_list_alone(admin: Client, path: str) -> None:
    part = admin.get(path, headers={"HX-Request": "true"})

    assert "<html" not in part.content.decode()
    assert "HX-Request" in part["Vary"]
