"""A span of time in a form is one of some, or another that is typed."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from apps.pages.changes.forms import SPAN_HELP, form_of
from apps.pages.changes.parameters import Line, Span, parameter
from apps.pages.request.spans import parse_span
from tests.support import cases

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUESTION = "Choose how long the lamp shines."


@dataclass(frozen=True, slots=True, kw_only=True)
class Shining:
    lives: str = parameter(
        "",
        line=Line(
            label="Shines",
            name="shines",
            span=Span(
                own="until",
                presets=lambda: {"7d": "a week", "30d": "a month"},
                question=QUESTION,
                check=lambda text: parse_span(text, now=NOW),
            ),
        ),
    )
    dims: str | None = parameter(
        None,
        line=Line(
            label="Dims",
            span=Span(
                presets=lambda: {"": "never", "1d": "after a day"},
                question="Choose when it dims.",
                check=lambda text: parse_span(text, now=NOW),
            ),
        ),
    )


ShiningForm = form_of(Shining)


@cases(
    "sent, text",
    {
        "a preset": ({"shines": "30d"}, "30d"),
        "a preset beside a span": ({"shines": "30d", "until": "45d"}, "30d"),
        "a date": ({"shines": "custom", "until": " 2030-12-31 "}, "2030-12-31"),
    },
)
def test_a_span_is_a_preset_or_what_was_typed(sent: dict[str, str], text: str) -> None:
    form = ShiningForm({**sent, "dims": ""})

    assert form.is_valid()
    assert form.cleaned_data["shines"] == text


@cases(
    "sent, said",
    {
        "nothing": ({}, QUESTION),
        "none of the presets": ({"shines": "9999d"}, QUESTION),
        "another one, without saying which": ({"shines": "custom"}, SPAN_HELP),
        "a long text": ({"shines": "custom", "until": "x" * 21}, SPAN_HELP),
        "what is no span": (
            {"shines": "custom", "until": "soon"},
            "it is neither a span of time nor a date",
        ),
    },
)
def test_an_unclear_span_is_refused_at_its_field(sent: dict[str, str], said: str):
    form = ShiningForm({**sent, "dims": ""})

    assert list(form.errors) == ["shines"]
    assert said in str(form.errors["shines"])


@pytest.mark.parametrize(("sent", "found"), [("", None), ("1d", "1d")])
def test_a_preset_may_mean_none(sent: str, found: str | None) -> None:
    form = ShiningForm({"shines": "7d", "dims": sent})

    assert form.is_valid()
    assert form.cleaned_data["dims"] == found


def test_one_without_a_field_of_its_own_takes_the_presets_alone() -> None:
    form = ShiningForm({"shines": "7d", "dims": "custom", "until": "3d"})

    assert list(form.errors) == ["dims"]


@cases(
    "text, shown",
    {
        "a preset": ("7d", ("7d", "")),
        "another": ("3d", ("custom", "3d")),
    },
)
def test_a_page_shows_what_is_chosen_and_what_is_typed(text, shown):
    assert ShiningForm(initial={"shines": text})["shines"].value() == shown
    sent = ShiningForm({"shines": shown[0], "until": shown[1]})
    assert sent["shines"].value() == shown
