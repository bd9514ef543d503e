"""Two switches of Django that are private: both are known, and said nowhere.

`tests/unit/apps/pages/request/test_django_internals.py` fails when they change.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase


def need_no_csrf_token(request: HttpRequest) -> None:
    """Let one request pass without a token: no browser sent it by itself.

    `csrf_exempt` is of a view, for all who call it.
    """
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]  # noqa: SLF001 (as the module says)


def count_as_logged(answer: HttpResponseBase, instead_of: HttpResponseBase) -> None:
    """Let an answer be as logged as the one that it takes the place of.

    Otherwise the log has a line for both.
    """
    answer._has_been_logged = getattr(instead_of, "_has_been_logged", False)  # type: ignore[attr-defined]  # noqa: SLF001 (as above)
