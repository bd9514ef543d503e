"""What somebody types is read in their zone, which the page says and the job keeps."""

from pathlib import Path

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.jobs.models import Job
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.factories import new_user
from tests.support.tables.weekly_table import page_text
from tests.support.tables.zoned_tables import MIDNIGHT, NEW_YORK, ids, write_zoned_table

pytestmark = pytest.mark.django_db
PAGES = "/t/sales/events"
DELETE = f"{PAGES}/delete-rows"
NOTE = 'Times without a zone are read as <a href="/me/">{}</a>.'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_zoned_table(tmp_path / "events")
    new_indexed_table("sales.events", tmp_path / "events")
    return tmp_path / "events"


@pytest.fixture
def eastern(client: Client) -> Client:
    user = new_user("nora", role=User.Role.EDITOR)
    user.time_zone = NEW_YORK
    user.save()
    client.force_login(user)
    return client


def test_rows_are_deleted_by_the_zone_of_who_types(eastern, work, folder):
    eastern.post(DELETE, {"where": MIDNIGHT})
    look = work()

    assert look.state == Job.State.DONE, look.error
    assert look.parameters["asked"]["time_zone"] == NEW_YORK
    assert "Delete 1 row</button>" in page_text(eastern, DELETE)
    eastern.post(DELETE, {"seen": str(look.id)})
    assert work().state == Job.State.DONE
    assert ids(folder) == [1]


@pytest.mark.usefixtures("folder")
def test_who_agrees_in_another_zone_agrees_to_what_is_shown(eastern, work):
    eastern.post(DELETE, {"where": MIDNIGHT})
    look = work()
    other = Client()
    other.force_login(new_user("eve", role=User.Role.EDITOR))

    page = page_text(other, DELETE)
    other.post(DELETE, {"seen": str(look.id)})

    assert f"are read as {NEW_YORK} here. In your next preview they are in UTC." in page
    assert work().parameters["asked"]["time_zone"] == NEW_YORK


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "page", ["delete-rows", "update-rows", "constraints", "optimize", "data"]
)
def test_the_zone_is_shown_where_a_condition_is_typed(eastern: Client, page: str):
    assert NOTE.format(NEW_YORK) in page_text(eastern, f"{PAGES}/{page}")
