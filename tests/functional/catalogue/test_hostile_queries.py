"""Whatever a query string holds, the catalogue answers."""

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.tables.models import Table
from tests.support.conditions.drawn_examples import examples
from tests.support.pages.factories import new_column, new_table

pytestmark = [pytest.mark.django_db, pytest.mark.database]
PARAMETERS = ["q", "namespace", "status", "sort", "page", "kind", "v", "check"]
PATHS = [
    "/tables/",
    "/tables.json",
    "/tables.csv",
    "/tables/new",
    "/search",
    "/search.json",
    "/search.csv",
    "/t/default/orders/settings",
    "/t/default/orders/state",
]


@settings(max_examples=examples(50))
@given(
    path=st.sampled_from(PATHS),
    query=st.dictionaries(
        st.sampled_from(PARAMETERS) | st.text(max_size=5),
        st.text(max_size=300)
        | st.integers().map(str)
        | st.sampled_from(["%00", "\x00", "'; DROP TABLE", "9" * 400, "\ud7ff", "NaN"]),
        max_size=4,
    ),
)
def test_a_hostile_query_string_has_an_answer(editor, path, query):
    if not Table.objects.exists():
        new_column(new_table("orders"), "id")

    answer = editor.get(path, query, follow=True)

    assert answer.status_code in {200, 204, 400, 404}
    if answer.streaming:
        assert answer.getvalue()


@pytest.mark.parametrize("raw", ["q=%ff%fe", "q[]=1&q=2", "page=1&page=x", "&&==", "%"])
def test_a_malformed_query_string_has_an_answer(editor: Client, raw: str) -> None:
    answer = editor.get("/tables/", QUERY_STRING=raw)

    assert answer.status_code in {200, 400}
