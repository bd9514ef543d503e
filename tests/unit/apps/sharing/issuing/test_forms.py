import pytest

from deltaweb.web.sharing.issuing.forms import (
    LifetimeForm,
    RetireForm,
    RotateForm,
    first_lifetime,
    lifetime_choices,
)


@pytest.mark.parametrize(
    ("max_days", "presets", "first"),
    [
        pytest.param(365, ["7d", "30d", "90d"], {"lifetime": "90d"}, id="as it comes"),
        pytest.param(90, ["7d", "30d", "90d"], {"lifetime": "90d"}, id="just enough"),
        pytest.param(60, ["7d", "30d"], {"lifetime": "30d"}, id="two months"),
        pytest.param(
            3, [], {"lifetime": "custom", "until": "3d"}, id="less than any preset"
        ),
    ],
)
def test_only_lifetimes_that_are_allowed_are_offered(max_days, presets, first):
    assert list(lifetime_choices(max_days)) == presets
    assert first_lifetime(max_days) == first


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        pytest.param({"lifetime": "30d"}, "30d", id="a preset"),
        pytest.param(
            {"lifetime": "30d", "until": "45d"}, "30d", id="a preset beside a span"
        ),
        pytest.param(
            {"lifetime": "custom", "until": " 2030-12-31 "}, "2030-12-31", id="a date"
        ),
    ],
)
def test_a_lifetime_is_a_preset_or_what_was_typed(sent: dict[str, str], text: str):
    form = LifetimeForm(sent)

    assert form.is_valid()
    assert form.lifetime_text == text


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"lifetime": "9999d"}, id="none of the presets"),
        pytest.param({"lifetime": "custom"}, id="another one, without saying which"),
        pytest.param({"lifetime": "custom", "until": "x" * 21}, id="a long text"),
    ],
)
def test_an_unclear_lifetime_is_refused_beside_its_field(sent: dict[str, str]) -> None:
    form = LifetimeForm(sent)

    assert not form.is_valid()
    assert "until" in form.errors


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        pytest.param({"keep": "0"}, "0", id="at once"),
        pytest.param({"keep": "7d"}, "7d", id="a preset"),
        pytest.param({"keep": "custom", "keep_until": "36h"}, "36h", id="a span"),
    ],
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
