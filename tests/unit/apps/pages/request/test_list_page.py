import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace

import pytest
from django import forms
from django.http import HttpRequest
from django.test import RequestFactory

from apps.pages.errors import PageError
from apps.pages.lists.paging import Paged, paged
from apps.pages.lists.sorting import Column
from apps.pages.request.list_page import ListPage, ListQuery
from apps.pages.request.server_paths import place_for_reader, remember_reader

WORDS = ["one", "two", "three", "four"]


@dataclass(frozen=True)
class Word:
    word: str
    place: str


@dataclass(frozen=True)
class Words:
    rows: list[Word]
    paged: Paged


def found(_user: object, query: ListQuery, _now: datetime) -> Iterator[Word]:
    for word in sorted(WORDS, reverse=query.sort == "-word"):
        if query["q"] in word:
            yield Word(word, place_for_reader(f"/lake/{word}"))


def page(user: object, query: ListQuery, now: datetime) -> Words:
    words = list(found(user, query, now))
    place = paged(len(words), query.page, length=3)
    return Words(words[place.rows], place)


LIST = ListPage(
    entries="words",
    template="",
    columns=(Column("word", "Word"),),
    default_sort="word",
    filters={"q": forms.CharField(required=False)},
    page=page,
    entry=Word,
    every=found,
)


def request(query: str = "", *, is_editor: bool = True) -> HttpRequest:
    made = RequestFactory().get(f"/words.json?{query}")
    made.user = SimpleNamespace(is_editor=is_editor)  # type: ignore[assignment]  # a test's own
    return made


def answered(query: str = "") -> dict[str, object]:
    return dict(json.loads(LIST.answer(request(query), "json").content))  # type: ignore[attr-defined]  # no stream


def test_takes_its_filters_an_order_and_a_page() -> None:
    assert [*LIST.form.base_fields] == ["q", "sort", "page"]


def test_has_a_page_of_rows_and_the_way_to_the_next() -> None:
    first, second = answered(), answered("page=2&sort=-word")

    assert (first["count"], first["next"]) == (4, "http://testserver/words.json?page=2")
    assert [row["word"] for row in first["words"]] == ["four", "one", "three"]  # type: ignore[attr-defined]  # rows
    assert second["words"] == [{"word": "four", "place": "/lake/four"}]
    assert second["next"] is None


def test_filters() -> None:
    assert answered("q=tw")["words"] == [{"word": "two", "place": "/lake/two"}]


@pytest.mark.parametrize("query", ["page=0", "page=x", "sort=size"])
def test_refuses_an_address_that_makes_no_sense(query: str) -> None:
    with pytest.raises(PageError) as caught:
        answered(query)

    assert (caught.value.status, caught.value.code) == (400, "query-invalid")


def test_streams_every_page_as_its_reader_may_see_it() -> None:
    seen = request("q=o", is_editor=False)

    answer = remember_reader(lambda one: LIST.answer(one, "csv"))(seen)

    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]  # a stream
    assert lines == ["word,place", "four,…/four", "one,…/one", "two,…/two"]


def test_a_filter_that_it_has_not_is_a_slip_of_the_code() -> None:
    with pytest.raises(TypeError):
        LIST.query(colour="red")
