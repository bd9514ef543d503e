"""The commits of all tables by day, as each user may see them."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.explorer.what_changed import selector
from apps.tables.models import Commit
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.factories import new_commit, new_table, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.database]
PAGE = "/what-changed/"
FORM = "/what-changed.json"


@pytest.fixture
def noons() -> list[datetime]:
    """Noon of today, of yesterday and of the days before."""
    noon = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
    return [noon - timedelta(days=days) for days in range(12)]


def named(client: Client, query: str = "") -> list[tuple[str, int]]:
    found = json_of(client, f"{FORM}{query}")["commits"]
    return [(f"{one['namespace']}.{one['table']}", one["version"]) for one in found]


@pytest.fixture
def commits(noons: list[datetime]) -> None:
    orders, parts = new_table("sales.orders"), new_table("own.parts")
    secret = new_table("sales.secret", is_private=True)
    new_commit(orders, 1, committed_at=noons[1], user_name="etl", operation="WRITE")
    new_commit(orders, 2, committed_at=noons[0], user_name="eve", changes_schema=True)
    new_commit(
        parts, 7, committed_at=noons[3], operation="DELETE", num_removed_files=1,
        added_rows=2, removed_rows=3,
    )  # fmt: skip
    new_commit(secret, 5, committed_at=noons[0], operation="MERGE")


@pytest.fixture
def eve() -> Client:
    return signed_in("eve", role=User.Role.EDITOR)


@pytest.mark.usefixtures("commits")
class TestTheList:
    def test_has_the_newest_commit_first(self) -> None:
        ada = signed_in("ada", role=User.Role.ADMIN)

        assert named(ada)[2:] == [("sales.orders", 1), ("own.parts", 7)]
        assert {*named(ada)[:2]} == {("sales.secret", 5), ("sales.orders", 2)}

    def test_has_no_commit_of_a_table_that_a_viewer_may_not_see(
        self, viewer: Client
    ) -> None:
        assert named(viewer) == [
            ("sales.orders", 2),
            ("sales.orders", 1),
            ("own.parts", 7),
        ]
        assert json_of(viewer, FORM)["count"] == 3
        assert "secret" not in text_of(viewer, PAGE)
        lines = viewer.get("/what-changed.csv").getvalue().decode()
        assert "orders" in lines
        assert "secret" not in lines

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("?when=yesterday", [("sales.orders", 1)]),
            ("?by=me", [("sales.orders", 2)]),
            ("?by=etl", [("sales.orders", 1)]),
            ("?kind=deletes", [("own.parts", 7)]),
            ("?kind=schema+changes", [("sales.orders", 2)]),
            ("?namespace=own", [("own.parts", 7)]),
            ("?namespace=own&when=today", []),
            ("?namespace=none", []),
        ],
    )
    def test_is_filtered(
        self, eve: Client, query: str, found: list[tuple[str, int]]
    ) -> None:
        assert named(eve, query) == found
        shown = text_of(eve, f"{PAGE}{query}")
        assert ("No commit matches these filters" in shown) is (found == [])

    def test_takes_days(self, eve: Client, noons: list[datetime]) -> None:
        day = noons[3].date().isoformat()

        assert named(eve, f"?from={day}&to={day}") == [("own.parts", 7)]

    def test_says_rows_and_bytes_and_leads_to_the_commit(self, eve: Client) -> None:
        Commit.objects.filter(version=1).update(added_rows=41)

        page = eve.get(f"{PAGE}?when=yesterday").content.decode()

        assert 'href="/t/sales/orders/history/1"' in page
        assert 'title="+41 rows"' in page
        (one,) = json_of(eve, f"{FORM}?when=yesterday")["commits"]
        assert (one["rows_changed"], one["bytes_changed"]) == (41, 1024)
        assert one["outlier"] is None

    def test_groups_by_day(self, eve: Client) -> None:
        page = text_of(eve, PAGE)

        assert page.index("Today") < page.index("sales.orders") < page.index("parts")

    def test_is_by_rest(self, eve: Client) -> None:
        found = json_of(eve, "/api/v1/commits?kind=deletes")["commits"]

        assert [one["table"] for one in found] == ["parts"]


def test_pages_follow_each_other_without_gaps(
    eve: Client, noons: list[datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "PAGE_LENGTH", 3)
    for name in "abc":
        table = new_table(f"own.{name}")
        for version in range(4):
            new_commit(table, version, committed_at=noons[version // 2])

    found, address = [], FORM
    while address:
        answer = json_of(eve, address)
        found += [(one["table"], one["version"]) for one in answer["commits"]]
        address = answer["next"] and answer["next"].replace("http://testserver", "")

    assert len(found) == len({*found}) == 12


def test_marks_a_commit_that_is_not_as_usual(
    eve: Client, noons: list[datetime]
) -> None:
    table = new_table("own.a")
    for version in range(12):
        rows = 9_000 if version == 11 else 300
        made = noons[0] + timedelta(minutes=version)
        new_commit(table, version, committed_at=made, added_rows=rows)

    page = text_of(eve, PAGE)

    assert page.count("30× usual") == 1
    newest, *others = json_of(eve, FORM)["commits"]
    assert newest["outlier"]["usual_rows"] == 300
    assert all(one["outlier"] is None for one in others)


def regular(name: str, made: datetime, **last: int) -> None:
    """Make a table of twelve like commits, the last of them with other numbers."""
    table = new_table(name)
    for version in range(12):
        fields = last if version == 11 else {}
        new_commit(
            table,
            version,
            committed_at=made + timedelta(minutes=version),
            **({"added_rows": 300, "added_bytes": 1024} | fields),
        )


def test_marks_bytes_that_are_not_as_usual(eve: Client, noons: list[datetime]) -> None:
    regular("own.a", noons[0], added_bytes=102_400)

    newest, *others = json_of(eve, FORM)["commits"]

    assert newest["outlier"] is None
    assert newest["bytes_outlier"]["usual_bytes"] == 1024
    assert all(one["bytes_outlier"] is None for one in others)
    assert text_of(eve, PAGE).count("100× usual bytes") == 1


class TestUnusualOnes:
    @pytest.fixture(autouse=True)
    def tables(self, noons: list[datetime]) -> None:
        regular("own.a", noons[0], added_bytes=102_400)
        regular("own.b", noons[1], added_rows=9_000)
        regular("own.c", noons[2])

    def test_are_shown_alone(self, eve: Client) -> None:
        assert named(eve, "?kind=unusual") == [("own.a", 11), ("own.b", 11)]
        assert "2 commits" in text_of(eve, f"{PAGE}?kind=unusual")

    def test_are_in_csv_alone(self, eve: Client) -> None:
        lines = eve.get("/what-changed.csv?kind=unusual").getvalue().decode()

        assert len(lines.splitlines()) == 3

    def test_are_found_past_a_page_without_any(
        self, eve: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selector, "MAX_COMPARED", 5)

        found, address, pages = [], f"{FORM}?kind=unusual", 0
        while address:
            answer = json_of(eve, address)
            found += [(one["table"], one["version"]) for one in answer["commits"]]
            address = (answer["next"] or "").replace("http://testserver", "")
            pages += 1

        assert found == [("a", 11), ("b", 11)]
        assert pages == 8
        assert "at least 1 commit" in text_of(eve, f"{PAGE}?kind=unusual")

    def test_are_found_where_a_page_has_one_too_many(
        self, eve: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(selector, "PAGE_LENGTH", 1)

        first = json_of(eve, f"{FORM}?kind=unusual")
        second = json_of(eve, first["next"].replace("http://testserver", ""))

        assert [one["table"] for one in first["commits"]] == ["a"]
        assert [one["table"] for one in second["commits"]] == ["b"]
        assert second["next"] is None


@pytest.mark.usefixtures("commits")
def test_a_commit_that_a_viewer_may_not_see_is_no_place_to_begin(
    viewer: Client,
) -> None:
    hidden = Commit.objects.get(table__name="secret")

    assert named(viewer, f"?before={hidden.id}") == named(viewer)


@pytest.mark.usefixtures("commits")
def test_the_dashboard_counts_today_and_yesterday(viewer: Client) -> None:
    days = json_of(viewer, "/dashboard.json")["days"]

    assert days == [
        {"day": "today", "num_commits": 1, "num_tables": 1, "num_deletes": 0,
         "num_schema_changes": 1},
        {"day": "yesterday", "num_commits": 1, "num_tables": 1, "num_deletes": 0,
         "num_schema_changes": 0},
    ]  # fmt: skip
    page = viewer.get("/").content.decode()
    assert 'href="/what-changed/?when=today&amp;kind=schema"' in page


def test_a_page_asks_few_questions(
    eve: Client, noons: list[datetime], django_assert_max_num_queries
) -> None:
    for name in "abcdefgh":
        table = new_table(f"own.{name}")
        for version in range(6):
            new_commit(table, version, committed_at=noons[0])

    with django_assert_max_num_queries(9):
        eve.get(f"{PAGE}?when=today")


def test_is_a_place_of_the_main_menu(viewer: Client) -> None:
    page = viewer.get(PAGE).content.decode()

    place = page[page.index('aria-label="Main"') :]
    assert 'href="/what-changed/"' in place[: place.index("</nav>")]


def test_an_empty_installation_says_so(eve: Client) -> None:
    assert "No commits yet" in text_of(eve, PAGE)
