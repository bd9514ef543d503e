"""A change whose page, command and call differ in names, status or warnings."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import NamedTuple
from uuid import uuid4

import pytest
from django.contrib.messages import get_messages
from django.core.management import CommandError, call_command
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from pytest_django import Settings

from apps.accounts.models import User
from apps.api.changes import change_paths
from apps.api.openapi import describe
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Page,
    Record,
    Subject,
    Verb,
    changes,
)
from apps.pages.changes.command import ChangesCommand
from apps.pages.changes.html import change_patterns
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.request.changes import UNCHANGED, Unchanged
from deltaweb import urls

pytestmark = [pytest.mark.django_db(transaction=True)]
put: list["Placed"] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """How a lamp is put."""

    parts: list[str] | Unchanged | None = parameter(
        UNCHANGED,
        "--parts",
        removed_by="--no-parts --whole",
        reads=lambda text: text.split(","),
        line=Line(label="Parts", splits=lambda text: text.split(",")),
    )
    gently: bool | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="Gently", is_button=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a lamp stands."""

    name: str
    room: str
    parts: list[str] | None
    gently: bool
    in_transaction: bool = False


class Place(NamedTuple):
    name: str
    room: str


def put_lamp(place: Place, new: Placing, _: Stamp) -> Placed:
    parts = [] if isinstance(new.parts, Unchanged) else new.parts
    one = Placed(
        **place._asdict(),
        parts=parts,
        gently=new.gently is True,
        in_transaction=connection.in_atomic_block,
    )
    put.append(one)
    return one


class LampCommand(ChangesCommand):
    help = "Lamps."
    noun = "lamp"


PUT = Change(
    of=Subject(
        noun="lamp",
        role=ADMIN,
        scope="write",
        find=Place,
        metavars={"room": "--room"},
    ),
    name="put",
    help="Put a lamp somewhere.",
    parameters=Placing,
    do=put_lamp,
    is_atomic=False,
    result=Placed,
    says=lambda one: f"{one.name} stands in {one.room}.",
    record=Record("lamp.put"),
    verb=Verb(warns=lambda place, _: [f"{place.room} is dark."]),
    call=Call(
        "PUT",
        "rooms/<str:room>/<str:name>",
        view="Placed",
        is_new=lambda one: one.room == "new",
        location=lambda one: f"/rooms/{one.room}",
    ),
    page=Page(
        "rooms/<int:number>/put",
        back=lambda _: "/rooms/",
        find=lambda number, name: Place(name, f"room {number}"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a call answers instead of all about a lamp."""

    room: str


MOVE = replace(
    PUT,
    name="move",
    verb=None,
    kept=lambda one: {"name": one.name} if one.room == "secret" else None,
    call=Call(
        "POST",
        "rooms/<str:room>/<str:name>",
        view="Placed",
        answers=Room,
        shown=lambda one: Room(room=one.room),
        find=lambda caller, room, name: Place(f"{name} of {caller}", room),
    ),
    page=Page(
        "rooms/<str:room>/move",
        back=lambda _: "/rooms/",
        find=lambda room, name: Place(name, room),
        confirm=lambda place: "heavy" if place.room == "attic" else "",
        repeated="It was moved before.",
    ),
)


def is_known(request: HttpRequest, _: Place) -> HttpResponse | None:
    return HttpResponse("known", status=409) if "known" in request.POST else None


def told(_: HttpRequest, place: Place, one: Placed) -> HttpResponse:
    return HttpResponse(f"{place.name} in {one.room}")


HIDE = replace(PUT, name="hide", verb=None, call=None, page=())
READ = Read(
    route="rooms/<str:room>/<str:name>",
    view="Placed",
    finds=lambda room, name: Placed(name=name, room=room, parts=[], gently=False),
    shows=Placed,
    help="Return where a lamp stands.",
    role=ADMIN,
)


@pytest.fixture(autouse=True)
def addresses(settings: Settings) -> Iterator[None]:
    put.clear()
    changes.register(PUT)
    changes.register(HIDE)
    changes.register(MOVE)
    reads.register(READ)
    root = ModuleType("urls_with_rooms")
    pages = change_patterns(
        "lamp", before={"lamp-move": is_known}, answered={"lamp-move": told}
    )
    made = [*pages, *change_paths("api/v1")]
    root.urlpatterns = [*made, *urls.urlpatterns]  # type: ignore[attr-defined]
    settings.ROOT_URLCONF = root
    yield
    changes.remove(PUT)
    changes.remove(HIDE)
    changes.remove(MOVE)
    reads.remove(READ)


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(User.objects.create_user("ada", role=User.Role.ADMIN))
    return client


def run(*words: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(LampCommand(), *words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_a_call_can_find_what_its_caller_sees(admin: Client) -> None:
    path = "/api/v1/rooms/attic/desk"
    admin.post(path, {}, content_type="application/json")

    assert [one.name for one in put] == ["desk of ada"]


def test_a_page_has_names_of_its_own(admin: Client) -> None:
    answer = admin.post("/rooms/7/put", {"name": "desk", "parts": "a,,b"})

    assert answer["Location"] == "/rooms/"
    assert [(one.name, one.room) for one in put] == [("desk", "room 7")]


def test_a_blank_value_is_kept_so_that_it_can_be_refused(admin: Client) -> None:
    admin.post("/rooms/7/put", {"name": "desk", "parts": "a,,b"})

    assert put[0].parts == ["a", "", "b"]


@pytest.mark.parametrize(
    ("sent", "is_pressed"),
    [({}, False), ({"gently": ""}, True), ({"gently": "1"}, True)],
)
def test_a_button_is_pressed_if_it_is_sent(admin, sent, is_pressed) -> None:
    admin.post("/rooms/7/put", {"name": "desk", **sent})

    assert put[0].gently is is_pressed


def test_a_name_can_be_an_option_that_must_be_given() -> None:
    assert run("put", "desk", "--room", "attic")[0] == "desk stands in attic.\n"

    with pytest.raises(CommandError, match="--room"):
        run("put", "desk")


def test_a_command_reads_its_values_and_removes_them_by_each_option() -> None:
    for option in (("--parts", "a,b"), ("--no-parts",), ("--whole",)):
        run("put", "desk", "--room", "attic", *option)

    assert [one.parts for one in put] == [["a", "b"], None, None]


def test_a_command_warns_and_a_call_does_not(admin: Client) -> None:
    out, err = run("put", "desk", "--room", "attic", "--json")
    answer = admin.put("/api/v1/rooms/attic/desk", {}, content_type="application/json")

    assert json.loads(out)["warnings"] == ["attic is dark."]
    assert "attic is dark." in err
    assert "warnings" not in answer.json()


@pytest.mark.parametrize(("room", "status"), [("new", 201), ("attic", 200)])
def test_a_call_says_that_a_result_is_new_and_where(admin, room, status) -> None:
    path = f"/api/v1/rooms/{room}/desk"
    answer = admin.put(path, {}, content_type="application/json")

    assert (answer.status_code, answer["Location"]) == (status, f"/rooms/{room}")
    described = describe(list(change_paths("api/v1")))["paths"]
    assert {"200", "201"} <= described["/api/v1/rooms/{room}/{name}"]["put"][
        "responses"
    ].keys()


def test_a_read_can_be_without_a_page(admin: Client) -> None:
    assert admin.get("/api/v1/rooms/attic/desk").json()["room"] == "attic"


def test_a_viewer_reads_nothing_of_an_admin(client: Client) -> None:
    client.force_login(User.objects.create_user("eve", role=User.Role.VIEWER))

    assert client.get("/api/v1/rooms/attic/desk").status_code == 403


def test_not_each_change_is_a_verb() -> None:
    assert list(LampCommand().described()) == ["put"]


def test_a_change_that_waits_for_a_server_begins_its_transaction_itself() -> None:
    run("put", "desk", "--room", "attic")

    assert put[0].in_transaction is False


def test_a_call_may_answer_a_part_of_the_result(admin: Client) -> None:
    path = "/api/v1/rooms/attic/desk"

    answer = admin.post(path, {}, content_type="application/json")

    assert (answer.status_code, answer.json()) == (201, {"room": "attic"})


@pytest.mark.parametrize(("room", "status"), [("secret", 409), ("attic", 201)])
def test_an_answer_with_a_secret_is_not_repeated(admin, room, status) -> None:
    path, once = f"/api/v1/rooms/{room}/desk", {"HTTP_IDEMPOTENCY_KEY": "1"}
    admin.post(path, {}, content_type="application/json", **once)

    again = admin.post(path, {}, content_type="application/json", **once)

    assert again.status_code == status
    assert len(put) == 1


def test_a_form_can_be_answered_before_the_change(admin: Client) -> None:
    known = admin.post("/rooms/hall/move", {"name": "desk", "known": "1"})

    assert (known.status_code, put) == (409, [])


def test_a_form_may_have_to_be_confirmed(admin: Client) -> None:
    path = "/rooms/attic/move"
    for sent in ({}, {"confirm": "light"}):
        assert admin.post(path, {"name": "desk", **sent}).status_code == 302
    assert not put

    done = admin.post(path, {"name": "desk", "confirm": "heavy"})
    other = admin.post("/rooms/hall/move", {"name": "desk"})

    assert (done.content, other.content) == (b"desk in attic", b"desk in hall")


def test_a_form_that_is_sent_again_changes_nothing(admin: Client) -> None:
    sent = {"name": "desk", "once": str(uuid4())}
    first, again = (admin.post("/rooms/hall/move", sent) for _ in range(2))

    assert (first.content, again["Location"]) == (b"desk in hall", "/rooms/")
    assert [str(one) for one in get_messages(again.wsgi_request)] == [
        "It was moved before."
    ]
    assert len(put) == 1


@pytest.mark.parametrize("once", ["", "x"])
def test_a_form_without_a_key_takes_effect_each_time(admin: Client, once: str) -> None:
    for _ in range(2):
        admin.post("/rooms/hall/move", {"name": "desk", "once": once})

    assert len(put) == 2
