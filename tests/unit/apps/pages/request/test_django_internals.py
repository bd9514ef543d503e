"""The private switches of Django do what we use them for."""

import logging

import pytest
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.test import RequestFactory
from django.utils.log import log_response

from apps.pages.request.django_internals import (
    count_as_logged,
    need_no_csrf_token,
)


def answer_to(_: HttpRequest) -> HttpResponse:
    return HttpResponse()


def refusal(request: HttpRequest) -> object:
    check = CsrfViewMiddleware(answer_to)
    check.process_request(request)
    return check.process_view(request, answer_to, (), {})


def test_one_request_passes_without_a_token() -> None:
    factory = RequestFactory(enforce_csrf_checks=True)
    request, other = factory.post("/"), factory.post("/")

    need_no_csrf_token(request)

    assert refusal(request) is None
    assert refusal(other) is not None


@pytest.mark.parametrize("is_logged", [True, False])
def test_an_answer_in_the_place_of_another_is_logged_once(caplog, is_logged):
    request = RequestFactory().get("/")
    first, second = HttpResponse(status=404), HttpResponse(status=404)
    with caplog.at_level(logging.WARNING, "django.request"):
        if is_logged:
            log_response("%s", "/", response=first, request=request)

        count_as_logged(second, instead_of=first)
        log_response("%s", "/", response=second, request=request)

    assert len(caplog.records) == 1
