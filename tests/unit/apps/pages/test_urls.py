"""An address says which methods it answers."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from apps.pages.urls import action, answer, page


def _view(_request: HttpRequest, fmt: str = "html") -> HttpResponse:
    return HttpResponse(fmt)


@pytest.mark.parametrize(
    ("pattern", "answered"),
    [
        (page("a/", _view, "a")[0], {"GET", "HEAD"}),
        (page("a/", _view, "a", posts=True)[0], {"GET", "HEAD", "POST"}),
        (answer("a", _view, "a", fmt="csv"), {"GET", "HEAD"}),
        (action("a", _view, "a"), {"POST"}),
    ],
)
def test_an_address_answers_its_methods_alone(pattern, answered):
    factory, told = RequestFactory(), pattern.default_args

    statuses = {
        method: pattern.callback(factory.generic(method, "/a/"), **told).status_code
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE")
    }

    assert {method for method, status in statuses.items() if status == 200} == answered
    assert set(statuses.values()) <= {200, 405}
