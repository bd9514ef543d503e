import logging

import pytest

from deltaweb.logs import HideSignInLinks


@pytest.mark.parametrize(
    ("message", "arguments", "written"),
    [
        pytest.param(
            "%s: %s",
            ("Gone", "/sign-in/a-token/"),
            "Gone: /sign-in/.../",
            id="what Django writes of an answer",
        ),
        pytest.param(
            "GET /sign-in/a-token/?next=/t/ again",
            (),
            "GET /sign-in/.../?next=/t/ again",
            id="a link with a query",
        ),
        pytest.param(
            "POST /sign-in/?next=/", (), "POST /sign-in/?next=/", id="the page itself"
        ),
        pytest.param(
            "%s: %s",
            ("Gone", "/activate/a-nonce"),
            "Gone: /activate/...",
            id="an activation link",
        ),
        pytest.param(
            "https://a.example/activate/a-nonce then /sign-in/a-token/",
            (),
            "https://a.example/activate/... then /sign-in/.../",
            id="two links",
        ),
        pytest.param("%d%%", (50,), "50%", id="another message"),
    ],
)
def test_a_log_holds_no_secret_of_a_one_time_link(
    message: str, arguments: tuple[object, ...], written: str
) -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, message, arguments, None)

    passes = HideSignInLinks().filter(record)

    assert passes
    assert record.getMessage() == written
