"""A condition that cannot be read leaves the rows, and marks its field."""

import re
from pathlib import Path

import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import HTMX
from tests.support import cases
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.operated import work_newest

pytestmark = pytest.mark.django_db
DATA = "/t/sales/orders/data"


@pytest.fixture
def reader(viewer: Client, lake: Path) -> Client:
    new_sample_table("sales.orders", lake / "orders")
    viewer.get(DATA, {"f": "country:eq:DE"})
    work_newest()
    return viewer


@cases(
    "wrong",
    {
        "SQL with a typo": "country = = 'DE'",
        "SQL with an unknown column": "land = 'DE'",
        "a value of another type": "amount:gt:much",
        "no condition": "nonsense",
    },
)
def test_the_rows_stay_and_the_field_is_marked(reader: Client, wrong: str) -> None:
    query = {"f": ["country:eq:DE", wrong]}

    answer = reader.get(DATA, query)
    part = reader.get(DATA, query, headers=HTMX)
    machine = reader.get(f"{DATA}.json", query)

    shown = answer.content.decode()
    field = re.search(r'<input name="f"[^>]*>', shown)
    assert answer.status_code == 400
    assert field is not None
    assert 'aria-invalid="true"' in field[0]
    assert 'aria-describedby="wrong-condition"' in field[0]
    assert wrong.replace("'", "&#x27;") in field[0]
    assert 'id="wrong-condition" role="alert"' in shown
    assert shown.count("<tr") > 10
    assert 'name="f" value="country:eq:DE"' in shown
    assert part.status_code == 200
    assert machine.status_code == 400


def test_of_two_faults_the_first_is_named_and_none_counts(reader: Client) -> None:
    answer = reader.get(DATA, {"f": ["country:eq:DE", "x = ", "y = "]})

    shown = answer.content.decode()
    assert answer.status_code == 400
    assert 'value="x = "' in shown
    assert shown.count("<tr") > 10
