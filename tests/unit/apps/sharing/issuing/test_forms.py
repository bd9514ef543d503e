import pytest

from apps.sharing.issuing.forms import (
    LifetimeForm,
    RetireForm,
    RotateForm,
    first_lifetime,
    lifetime_choices,
)
from tests.support import cases


@cases(
    "max_days, presets, first",
    {
        "as it comes": (365, ["7d", "30d", "90d"], {"lifetime": "90d"}),
        "just enough": (90, ["7d", "30d", "90d"], {"lifetime": "90d"}),
        "two months": (60, ["7d", "30d"], {"lifetime": "30d"}),
        "less than any preset": (3, [], {"lifetime": "custom", "until": "3d"}),
    },
)
def test_only_lifetimes_that_are_allowed_are_offered(max_days, presets, first):
    assert list(lifetime_choices(max_days)) == presets
    assert first_lifetime(max_days) == first


@cases(
    "sent, text",
    {
        "a preset": ({"lifetime": "30d"}, "30d"),
        "a preset beside a span": ({"lifetime": "30d", "until": "45d"}, "30d"),
        "a date": ({"lifetime": "custom", "until": " 2030-12-31 "}, "2030-12-31"),
    },
)
def test_a_lifetime_is_a_preset_or_what_was_typed(sent: dict[str, str], text: str):
    form = LifetimeForm(sent)

    assert form.is_valid()
    assert form.lifetime_text == text


@cases(
    "sent",
    {
        "nothing": {},
        "none of the presets": {"lifetime": "9999d"},
        "another one, without saying which": {"lifetime": "custom"},
        "a long text": {"lifetime": "custom", "until": "x" * 21},
    },
)
def test_an_unclear_lifetime_is_refused_beside_its_field(sent: dict[str, str]) -> None:
    form = LifetimeForm(sent)

    assert not form.is_valid()
    assert "until" in form.errors


@cases(
    "sent, text",
    {
        "at once": ({"keep": "0"}, "0"),
        "a preset": ({"keep": "7d"}, "7d"),
        "a span": ({"keep": "custom", "keep_until": "36h"}, "36h"),
    },
)
def test_a_rotation_says_how_long_the_old_tokens_stay(sent: dict[str, str], text: str):
    form = RotateForm({"lifetime": "90d", **sent})

    assert form.is_valid()
    assert form.keep_text == text


@pytest.mark.parametrize("sent", [{}, {"keep": "-1"}, {"keep": "custom"}])
def test_a_rotation_asks_for_that_span(sent: dict[str, str]) -> None:
    form = RotateForm({"lifetime": "90d", **sent})

    assert list(form.errors) == ["keep_until"]


@pytest.mark.parametrize("sent", [{}, {"at": "soon"}, {"at": "custom"}])
def test_an_end_is_asked_for(sent: dict[str, str]) -> None:
    assert list(RetireForm(sent).errors) == ["at_until"]
