import logging
from typing import Any

import pytest
from django.conf import settings

from deltaweb.environment.logs import HideSignInLinks, KeepOneLine


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
def test_a_log_holds_no_secret_of_a_one_time_link(message, arguments, written):
    record = logging.LogRecord("x", logging.INFO, "", 0, message, arguments, None)

    passes = HideSignInLinks().filter(record)

    assert passes
    assert record.getMessage() == written


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        pytest.param(("GET", "/t/a/é b/"), "GET /t/a/é b/", id="what prints"),
        pytest.param(
            ("GET", "/t/a\r\n2026-01-01 ERROR x"),
            r"GET /t/a\r\n2026-01-01 ERROR x",
            id="ends of lines",
        ),
        pytest.param(
            ("GET", "\x1b[2J\u2028\u202e\0"),
            r"GET \x1b[2J\u2028\u202e\x00",
            id="what a terminal obeys",
        ),
    ],
)
def test_a_name_in_a_request_forges_no_line_of_the_log(arguments, written):
    record = logging.LogRecord("x", logging.INFO, "", 0, "%s %s", arguments, None)

    passes = KeepOneLine().filter(record)

    assert passes
    assert record.getMessage() == written


def test_every_line_of_the_server_is_kept_to_one() -> None:
    handlers: Any = settings.LOGGING["handlers"]
    assert handlers["stderr"]["filters"] == ["no-links", "one-line"]
