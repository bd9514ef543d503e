import logging
from typing import Any

from django.conf import settings

from deltaweb.environment.logs import HideSignInLinks, KeepOneLine
from tests.support import cases


@cases(
    "message, arguments, written",
    {
        "what Django writes of an answer": (
            "%s: %s",
            ("Gone", "/sign-in/a-token/"),
            "Gone: /sign-in/.../",
        ),
        "a link with a query": (
            "GET /sign-in/a-token/?next=/t/ again",
            (),
            "GET /sign-in/.../?next=/t/ again",
        ),
        "the page itself": ("POST /sign-in/?next=/", (), "POST /sign-in/?next=/"),
        "an activation link": (
            "%s: %s",
            ("Gone", "/activate/a-nonce"),
            "Gone: /activate/...",
        ),
        "two links": (
            "https://a.example/activate/a-nonce then /sign-in/a-token/",
            (),
            "https://a.example/activate/... then /sign-in/.../",
        ),
        "another message": ("%d%%", (50,), "50%"),
    },
)
def test_a_log_holds_no_secret_of_a_one_time_link(message, arguments, written):
    record = logging.LogRecord("x", logging.INFO, "", 0, message, arguments, None)

    passes = HideSignInLinks().filter(record)

    assert passes
    assert record.getMessage() == written


@cases(
    "arguments, written",
    {
        "what prints": (("GET", "/t/a/é b/"), "GET /t/a/é b/"),
        "ends of lines": (
            ("GET", "/t/a\r\n2026-01-01 ERROR x"),
            r"GET /t/a\r\n2026-01-01 ERROR x",
        ),
        "what a terminal obeys": (
            ("GET", "\x1b[2J\u2028\u202e\0"),
            r"GET \x1b[2J\u2028\u202e\x00",
        ),
    },
)
def test_a_name_in_a_request_forges_no_line_of_the_log(arguments, written):
    record = logging.LogRecord("x", logging.INFO, "", 0, "%s %s", arguments, None)

    passes = KeepOneLine().filter(record)

    assert passes
    assert record.getMessage() == written


def test_every_line_of_the_server_is_kept_to_one() -> None:
    handlers: Any = settings.LOGGING["handlers"]
    assert handlers["stderr"]["filters"] == ["outages", "no-links", "one-line"]
