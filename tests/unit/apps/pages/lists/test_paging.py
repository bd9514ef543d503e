import pytest
from django.test import RequestFactory

from apps.pages.lists.paging import PageLinks, links_between, page_links, paged


class TestPaged:
    @pytest.mark.parametrize(
        ("page", "first", "last", "previous", "following"),
        [(1, 1, 3, None, 2), (2, 4, 6, 1, 3), (3, 7, 7, 2, None)],
    )
    def test_says_where_a_page_stands(self, page, first, last, previous, following):
        place = paged(7, page, length=3)

        assert (place.num_pages, place.first, place.last) == (3, first, last)
        assert (place.previous_page, place.next_page) == (previous, following)
        assert list(range(7))[place.rows] == list(range(first - 1, last))

    def test_a_page_beyond_the_last_is_the_last(self) -> None:
        assert paged(7, 99, length=3).page == 3

    def test_an_empty_list_has_one_page_without_entries(self) -> None:
        place = paged(0, 1)

        assert (place.page, place.num_pages, place.first, place.last) == (1, 1, 0, 0)
        assert place.rows == slice(0, 0)


class TestPageLinks:
    def test_lead_to_the_pages_beside_with_the_same_filters(self) -> None:
        request = RequestFactory().get("/tables/?q=a&page=2")

        links = page_links(request, paged(7, 2, length=3))

        assert links.previous_url == "/tables/?q=a&page=1"
        assert links.next_url == "/tables/?q=a&page=3"
        assert links.next == f"http://testserver{links.next_url}"

    def test_lead_nowhere_without_a_list(self) -> None:
        assert page_links(RequestFactory().get("/"), None) == PageLinks()

    def test_may_lead_on_by_another_name(self) -> None:
        request = RequestFactory().get("/history")

        assert links_between(request, None, 7, "before").next_url == "/history?before=7"
