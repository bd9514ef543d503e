import pytest
from django.test import RequestFactory
from django.urls import reverse

from apps.pages.lists.links import (
    address_of,
    changed,
    machine_form,
    only,
    without,
)

REQUEST = RequestFactory().get("/t/a/b/history?op=A&op=B&q=x&page=3")


def test_a_filter_is_removed_and_the_list_starts_anew() -> None:
    assert without(REQUEST, "op", "A") == "/t/a/b/history?op=B&q=x"
    assert without(REQUEST, "op") == "/t/a/b/history?q=x"


def test_a_value_is_changed_and_none_drops_it() -> None:
    assert changed(REQUEST, page=4, q=None) == "/t/a/b/history?op=A&op=B&page=4"


def test_a_filter_is_set_to_what_a_row_stands_for() -> None:
    assert only(REQUEST, "op", ["C"]) == "/t/a/b/history?op=C&q=x"


def test_the_machine_form_keeps_the_filters() -> None:
    assert machine_form(REQUEST, "csv") == "/t/a/b/history.csv?op=A&op=B&q=x&page=3"
    bare = RequestFactory().get("/t/a/b/")
    assert machine_form(bare, "json") == "/t/a/b.json"


NAMES = ["orders", "a b", "späť", "50%", "a~b:c@d", "a&b?c#d", "it's", "(x)*,;=!$+"]


@pytest.mark.parametrize("name", NAMES)
def test_addresses_are_written_as_the_routes_write_them(name: str) -> None:
    assert address_of("t", name, name) == reverse(
        "explorer:table-overview", args=[name, name]
    )
    assert address_of("shares", name) == reverse("sharing:share-detail", args=[name])
    assert address_of("recipients", name) == reverse(
        "sharing:recipient-detail", args=[name]
    )


@pytest.mark.parametrize("name", ["a?b", "a#b", "a%2Fb", "100%25", "é b"])
def test_links_to_the_same_page_quote_odd_names(name: str) -> None:
    address = address_of("shares", name)
    request = RequestFactory().get(address)

    assert changed(request) == address
    assert changed(request, lang="curl") == f"{address}?lang=curl"
    assert machine_form(request, "json") == f"{address.rstrip('/')}.json"
