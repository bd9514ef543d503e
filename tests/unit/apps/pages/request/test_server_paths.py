from types import SimpleNamespace

import pytest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.test import RequestFactory

from apps.accounts.models import User
from apps.pages.request.server_paths import (
    place_for_code,
    place_for_reader,
    remember_reader,
    sees_server_paths,
    text_for_reader,
)

PLACE = "/srv/my lake/orders"
FAULT = f"{PLACE}/_delta_log/00000000000000000012.json: a line is not JSON."


def said_to(role: "User.Role | None") -> list[object]:
    """What somebody is told of a table and of an error."""

    def view(request: HttpRequest) -> HttpResponseBase:
        del request
        told.extend(
            (
                place_for_reader(PLACE),
                place_for_code(PLACE),
                text_for_reader(FAULT, PLACE),
                text_for_reader(f"{PLACE} is empty.", PLACE),
            )
        )
        return HttpResponse()

    told: list[object] = []
    request = RequestFactory().get("/")
    request.user = User(role=role) if role else SimpleNamespace()  # type: ignore[assignment]  # nobody
    remember_reader(view)(request)
    return told


@pytest.mark.parametrize("role", [User.Role.VIEWER, None], ids=["viewer", "nobody"])
def test_who_only_reads_is_told_names(role: "User.Role | None") -> None:
    assert said_to(role) == [
        "\N{HORIZONTAL ELLIPSIS}/orders",
        "/path/to/orders",
        "00000000000000000012.json: a line is not JSON.",
        "orders is empty.",
    ]


@pytest.mark.parametrize("role", [User.Role.EDITOR, User.Role.ADMIN])
def test_who_writes_is_told_paths(role: "User.Role") -> None:
    assert said_to(role) == [PLACE, PLACE, FAULT, f"{PLACE} is empty."]


def test_addresses_of_stores_are_told_to_all() -> None:
    def view(request: HttpRequest) -> HttpResponseBase:
        del request
        assert not sees_server_paths()
        assert place_for_reader("s3://lake/orders") == "s3://lake/orders"
        assert place_for_code("s3://lake/orders") == "s3://lake/orders"
        return HttpResponse()

    request = RequestFactory().get("/")
    request.user = User(role=User.Role.VIEWER)
    remember_reader(view)(request)
