from django.test import RequestFactory

from apps.pages.lists.sorting import Column, sort_headers, sort_options
from tests.support import cases

COLUMNS = (
    Column(key="name", label="Name"),
    Column(key="size", label="Size", begins_descending=True, css="dw-r"),
    Column(key="path", label="Path", word="Place", begins_descending=True),
    Column("", "30 days"),
    Column(key="created", label="Newest", is_shown=False),
)


def directions(sort: str) -> list[tuple[str, str, str]]:
    request = RequestFactory().get("/list/", {"q": "x", "page": "3", "sort": sort})
    headers = sort_headers(request, COLUMNS, sort)
    return [(header.label, header.direction, header.url) for header in headers]


@cases(
    "sort, direction, next_sort",
    {
        "its own way": ("name", "ascending", "-name"),
        "turned round": ("-name", "descending", "name"),
        "the largest first": ("-size", "descending", "size"),
        "the smallest first": ("size", "ascending", "-size"),
    },
)
def test_a_header_says_how_it_sorts_and_leads_to_the_other_way(
    sort: str, direction: str, next_sort: str
) -> None:
    label = sort.removeprefix("-").capitalize()

    shown = {label: (way, url) for label, way, url in directions(sort)}

    assert shown[label] == (direction, f"/list/?q=x&sort={next_sort}")
    assert [way for way, _ in shown.values()].count("") == len(shown) - 1


def test_the_first_click_sorts_as_the_column_says() -> None:
    shown = {label: url for label, _, url in directions("name")}

    assert shown["Size"] == "/list/?q=x&sort=-size"
    assert shown["Path"] == "/list/?q=x&sort=-path"


def test_what_does_not_sort_is_no_link_and_what_has_no_header_is_not_shown() -> None:
    shown = {label: url for label, _, url in directions("created")}

    assert shown["30 days"] == ""
    assert "Newest" not in shown


def test_the_menu_offers_every_column_and_the_present_order() -> None:
    assert sort_options(COLUMNS, "size", default="name") == [
        ("", "Name"),
        ("-size", "Size"),
        ("-path", "Place"),
        ("created", "Newest"),
        ("size", "Size, reversed"),
    ]
