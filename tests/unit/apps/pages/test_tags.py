import re
from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, RequestContext, Template
from django.test import RequestFactory
from django.test.utils import override_script_prefix

from apps.accounts.models import User
from apps.pages.templatetags.deltaweb import (
    absolute,
    compact,
    exact,
    percent,
    relative,
    signed,
    size,
)
from tests.support import cases
from tests.support.processes.installation import ROOT

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize("tag", ['{% icon "x" "dw-caret" %}', "{% icon name css %}"])
def test_an_icon_is_drawn_by_the_page_alone(tag: str) -> None:
    drawn = Template(tag).render(Context({"name": "x", "css": "dw-caret"}))

    assert drawn.startswith('<svg class="dw-i dw-caret" viewBox="0 0 24 24"')
    assert "<path" in drawn
    assert "href" not in drawn


def test_an_address_is_that_of_its_own_arguments_and_prefix() -> None:
    tag = Template('{% url "explorer:row-detail" namespace name row %}')
    rows = [{"namespace": "a&b", "name": "t", "row": row} for row in (1, 2, 1)]

    found = [tag.render(Context(row)) for row in rows]
    with override_script_prefix("/lake/"):
        behind_proxy = tag.render(Context(rows[0]))

    assert found == [f"/t/a&amp;b/t/data/{row}" for row in (1, 2, 1)]
    assert behind_proxy == "/lake/t/a&amp;b/t/data/1"


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (None, "unknown"),
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1.0 KiB"),
        (5_905_580_032, "5.5 GiB"),
        (150 * 1024**2, "150 MiB"),
        (-1536, "-1.5 KiB"),
        (2**70, "1,024 EiB"),
    ],
)
def test_a_size_is_read_by_powers_of_1024(size_bytes: int | None, text: str) -> None:
    assert size(size_bytes) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, "unknown"),
        (0, "0"),
        (9999, "9,999"),
        (18_402_117, "18.4 M"),
        (212_000, "212 k"),
        (2_410_000_000, "2.4 bn"),
    ],
)
def test_a_count_is_compact(count: int | None, text: str) -> None:
    assert compact(count) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.0"), (0.001, "0.1"), (12.54, "12.5"), (99.994, "99.9"), (100, "100.0")],
)
def test_a_percentage_is_100_only_of_all_and_0_only_of_nothing(value: float, text: str):
    assert percent(value) == text


def test_unknown_is_never_shown_as_zero() -> None:
    assert [exact(None), signed(None), size(None)] == ["unknown"] * 3
    assert [exact(0), signed(-3)] == ["0", "−3"]


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=2), "just now"),
        (timedelta(seconds=40), "40 s ago"),
        (timedelta(minutes=6), "6 min ago"),
        (timedelta(hours=21), "21 h ago"),
        (timedelta(days=3), "3 d ago"),
        (timedelta(days=30), "4 weeks ago"),
        (timedelta(days=400), "1 year ago"),
        (timedelta(hours=-5), "in 5 h"),
    ],
)
def test_a_moment_is_told_as_a_person_would(age: timedelta, text: str) -> None:
    assert relative(NOW - age, NOW) == text


def test_an_absolute_time_shows_its_zone() -> None:
    assert absolute(NOW) == "21 Nov 2026 12:00:00 UTC"


@cases(
    "template",
    {
        "said as a date": "{% when moment %}",
        "said as how long ago": "{% ago moment %}",
        "in a part with some values only": (
            "{% include part with moment=moment only %}"
        ),
    },
)
def test_a_moment_is_in_the_zone_of_who_reads_it(rf: RequestFactory, template: str):
    request = rf.get("/")
    request.user = User(time_zone="Asia/Kolkata")
    part = Template("{% ago moment %}")
    context = RequestContext(request, {"moment": NOW, "part": part})

    assert "21 Nov 2026 17:30:00 IST" in Template(template).render(context)


class TestAddresses:
    @cases(
        "asked, address",
        {
            "no query": ("", "/tables/"),
            "nothing is left": ("?q=a", "/tables/"),
            "a rest": ("?q=a&page=3&sort=name", "/tables/?sort=name"),
        },
    )
    def test_without_a_filter_end_in_no_bare_question_mark(self, rf, asked, address):
        context = Context({"request": rf.get(f"/tables/{asked}")})

        assert Template("{% page_with q=None %}").render(context) == address

    @pytest.mark.parametrize("query", ["", "?view=rows"])
    def test_of_another_page_take_the_query_along(self, rf: RequestFactory, query: str):
        context = Context({"request": rf.get(f"/here{query}")})

        assert Template("/there{% query_part %}").render(context) == f"/there{query}"

    def test_are_made_so_by_every_template(self) -> None:
        found = [
            path.name
            for path in (ROOT / "templates").rglob("*.html")
            if re.search(
                r"{% querystring|\?{{ request.GET.urlencode }}",
                path.read_text(encoding="utf-8"),
            )
        ]

        assert found == []
