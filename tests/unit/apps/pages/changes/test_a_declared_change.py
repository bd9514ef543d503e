"""A change that is declared once has a form, a command, a call and a record."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import pytest
from django.contrib.messages import get_messages
from django.core.management import CommandError, call_command
from django.http import HttpRequest, HttpResponse
from django.test import Client
from pytest_django import Settings

from apps.accounts.models import User
from apps.api.changes import change_paths
from apps.api.openapi import describe
from apps.audit.models import AuditEvent
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
from apps.pages.changes.forms import form_of, sentences_of
from apps.pages.changes.html import change_form, change_patterns
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, ChangeForm, Unchanged, value_of
from deltaweb import urls
from deltaweb.delta.errors import DeltaError

pytestmark = [pytest.mark.django_db]
lamps: dict[str, dict[str, Any]] = {}
LAMP: Final = {
    "name": "desk",
    "colour": "white",
    "watts": 10,
    "is_on": True,
    "near": ["bed"],
}


class LampTooBrightError(DeltaError, code="lamp-too-bright"):
    message = "The lamp is too bright."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLight:
    """How a lamp shines."""

    colour: str | Unchanged | None = parameter(
        UNCHANGED,
        "--colour",
        removed_by="--no-colour",
        line=Line(label="Colour", most=20),
        help="the colour of the light",
    )
    watts: int | Unchanged = parameter(
        UNCHANGED,
        "--watts",
        line=Line(label="Watts", least=1, most=100, codes=("lamp-too-bright",)),
    )
    near: list[str] | Unchanged = parameter(
        UNCHANGED,
        None,
        line=Line(
            label="Near", is_boxes=True, choices=lambda: ["desk", "bed"], name="places"
        ),
    )
    is_on: bool | Unchanged = parameter(
        UNCHANGED, "--on", action="store_true", line=Line(label="On")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """A lamp."""

    name: str
    colour: str
    watts: int
    is_on: bool
    near: list[str]


def find_lamp(name: str) -> dict[str, Any]:
    return lamps[name]


def shine(lamp: dict[str, Any], new: NewLight, _: Stamp) -> Lamp:
    if new.watts == 99:
        raise LampTooBrightError
    lamp["colour"] = value_of(new.colour, lamp["colour"], removed="")
    lamp["watts"] = value_of(new.watts, lamp["watts"], removed=0)
    lamp["is_on"] = value_of(new.is_on, lamp["is_on"], removed=False)
    lamp["near"] = value_of(new.near, lamp["near"], removed=[])
    return Lamp(**lamp)


def lamp_page(
    _: HttpRequest, lamp: dict[str, Any], *, fmt: str, form: ChangeForm | None
) -> HttpResponse:
    """A page that has the form of its change."""
    (made,) = changes.of("lamp")
    form = form or change_form(made, watts=lamp["watts"], near=lamp["near"])
    lines = [fmt, *(f"{name}={form[name].value()}" for name in ("watts", "places"))]
    return HttpResponse("; ".join([*lines, *sentences_of(form)]))


LAMPS: Final = Subject(
    noun="lamp",
    role=ADMIN,
    scope="write",
    find=find_lamp,
    about=lambda lamp: {"table": lamp["name"]},
)


class LampCommand(ChangesCommand):
    help = "Lamps."
    noun = "lamp"


@pytest.fixture
def lamp(settings: Settings) -> Iterator[dict[str, Any]]:
    """The only lamp. A change of lamps is declared, and nothing else is written."""
    lamp = lamps["desk"] = dict(LAMP)
    made = changes.register(
        Change(
            of=LAMPS,
            name="shine",
            help="Change how a lamp shines.",
            parameters=NewLight,
            do=shine,
            result=Lamp,
            says=lambda lamp: f"{lamp.name} shines.",
            record=Record(
                fields={"colour": "lamp.set_colour", "watts": "lamp.set_watts"},
                facts=dict,
            ),
            verb=Verb(question=lambda lamp, _: f"Change {lamp['name']}?"),
            call=Call("PATCH", "lamps/<str:name>", view="LampView"),
            page=(
                Page("lamps/<str:name>/shine", back=lambda _: "/lamps/"),
                Page(
                    "lamps/<str:name>/settings",
                    back=lambda _: "/lamps/",
                    then=lambda lamp: f"/lamps/{lamp.name}/",
                    name="lamp",
                    takes=["v"],
                ),
            ),
        )
    )
    root = ModuleType("urls_with_lamps")
    pages = change_patterns("lamp", shown={"lamp": lamp_page})
    addresses = [*pages, *change_paths("api/v1")]
    root.urlpatterns = [*addresses, *urls.urlpatterns]  # type: ignore[attr-defined]
    settings.ROOT_URLCONF = root
    yield lamp
    changes.remove(made)


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(User.objects.create_user("ada", role=User.Role.ADMIN))
    return client


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(LampCommand(), *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def records() -> list[tuple[str, str, Any]]:
    found = AuditEvent.objects.order_by("id")
    return [(one.action, one.table, one.detail) for one in found]


def test_has_a_form_whose_unsent_fields_change_nothing(admin: Client, lamp) -> None:
    answer = admin.post("/lamps/desk/shine", {"colour": "red"})

    assert (answer.status_code, answer["Location"]) == (302, "/lamps/")
    assert lamp == {
        "name": "desk",
        "colour": "red",
        "watts": 10,
        "is_on": True,
        "near": ["bed"],
    }
    assert [str(one) for one in get_messages(answer.wsgi_request)] == ["desk shines."]


def test_a_box_that_is_not_checked_states_that(admin: Client, lamp) -> None:
    admin.post("/lamps/desk/shine", {"is_on": "false"})

    assert lamp["is_on"] is False


@pytest.mark.parametrize("watts", ["0", "ten", "99"])
def test_a_form_with_a_fault_changes_nothing_and_says_so(admin, lamp, watts):
    answer = admin.post("/lamps/desk/shine", {"watts": watts, "colour": "red"})

    assert (lamp["watts"], lamp["colour"]) == (10, "white")
    (said,) = (str(one) for one in get_messages(answer.wsgi_request))
    assert said.startswith("Watts: ")
    assert records() == []


def test_has_a_command_with_options_and_a_question(lamp) -> None:
    with pytest.raises(CommandError, match="there is no terminal to ask"):
        run("shine", "desk", "--watts", "20")
    assert lamp["watts"] == 10

    assert run("shine", "desk", "--watts", "20", "--yes") == "desk shines.\n"
    found = json.loads(run("shine", "desk", "--no-colour", "--yes", "--json"))

    assert found == lamp
    assert (lamp["colour"], lamp["watts"], lamp["is_on"]) == ("", 20, True)


def test_has_a_call_that_leaves_alone_what_is_not_sent(admin: Client, lamp) -> None:
    answer = admin.patch(
        "/api/v1/lamps/desk", {"colour": None}, content_type="application/json"
    )

    assert answer.json() == {
        "name": "desk",
        "colour": "",
        "watts": 10,
        "is_on": True,
        "near": ["bed"],
    }
    wrong = admin.patch(
        "/api/v1/lamps/desk", {"watts": 101}, content_type="application/json"
    )
    assert wrong.status_code == 400
    assert lamp["watts"] == 10


def test_form_command_and_call_limit_the_length_of_a_text(admin, lamp) -> None:
    fits, longer = "x" * 20, "x" * 21
    call = {"path": "/api/v1/lamps/desk", "content_type": "application/json"}

    assert admin.patch(**call, data={"colour": longer}).status_code == 400
    admin.post("/lamps/desk/shine", {"colour": longer})
    with pytest.raises(CommandError, match="--colour: it has 21 characters"):
        run("shine", "desk", "--colour", longer, "--yes")
    assert lamp["colour"] == "white"

    assert admin.patch(**call, data={"colour": fits}).status_code == 200
    assert lamp["colour"] == fits


@pytest.mark.usefixtures("lamp")
def test_is_described_with_the_help_of_its_options() -> None:
    described = describe(list(change_paths("api/v1")))
    call = described["paths"]["/api/v1/lamps/{name}"]["patch"]
    body = described["components"]["schemas"]["PatchedNewLight"]["properties"]

    assert call["summary"] == "Change how a lamp shines"
    assert call["operationId"] == "patch_lamp_view"
    assert call["description"].startswith("For administrators.")
    assert body["colour"]["description"] == "the colour of the light"
    assert body["colour"]["maxLength"] == 20
    assert (body["watts"]["minimum"], body["watts"]["maximum"]) == (1, 100)


@pytest.mark.usefixtures("lamp")
def test_its_help_is_that_of_the_command() -> None:
    ((declared, _),) = LampCommand().subcommands()

    assert (declared.name, declared.help) == ("shine", "change how a lamp shines")


@pytest.mark.usefixtures("lamp")
def test_has_a_record_for_each_field_that_it_changed(admin: Client) -> None:
    admin.post("/lamps/desk/shine", {"colour": "red", "watts": "10"})

    assert records() == [("lamp.set_colour", "desk", {"old": "white", "new": "red"})]


@pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
def test_is_refused_without_the_role(client: Client, lamp, role) -> None:
    client.force_login(User.objects.create_user("eve", role=role))

    form = client.post("/lamps/desk/shine", {"colour": "red"})
    call = client.patch(
        "/api/v1/lamps/desk", {"colour": "red"}, content_type="application/json"
    )

    assert (form.status_code, call.status_code) == (403, 403)
    assert lamp["colour"] == "white"


def test_is_refused_without_a_record() -> None:
    with pytest.raises(ValueError, match="lamp dim has no audit record"):
        Change(
            of=LAMPS,
            name="dim",
            help="Dim a lamp.",
            parameters=NewLight,
            do=shine,
            result=Lamp,
            says=str,
            record=(),
        )


def test_a_form_has_the_fields_that_have_a_line() -> None:
    found = list(form_of(NewLight).base_fields)
    assert found == ["colour", "watts", "places", "is_on"]


def test_a_page_that_has_the_form_shows_it_and_takes_it(admin: Client, lamp) -> None:
    shown = admin.get("/lamps/desk/settings")
    wrong = admin.post(
        "/lamps/desk/settings", {"watts": "0", "places": ["desk", "moon"]}
    )
    assert lamp["watts"] == 10
    done = admin.post("/lamps/desk/settings", {"places": ["desk", ""]})

    assert shown.content.decode() == "html; watts=10; places=['bed']"
    assert "moon is not one of the available choices" in wrong.content.decode()
    assert (done.status_code, lamp["near"], lamp["watts"]) == (302, ["desk"], 10)
    assert done["Location"] == "/lamps/desk/"
    assert admin.get("/lamps/desk/settings.json").content.decode().startswith("json; ")


@pytest.mark.usefixtures("lamp")
def test_a_page_that_has_the_form_takes_what_is_said(admin: Client) -> None:
    statuses = {
        name: admin.get(f"/lamps/desk/settings.json?{name}=1").status_code
        for name in ("v", "w")
    }

    assert statuses == {"v": 200, "w": 400}
