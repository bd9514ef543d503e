"""A change with a secret, of the things of the user who asks, from a session alone."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from apps.api.models import KeptAnswer
from apps.audit.models import AuditEvent
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    VIEWER,
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
from apps.pages.errors import PageError
from apps.pages.request.changes import ChangeForm
from deltaweb import urls
from tests.support.pages.factories import new_api_key

pytestmark = [pytest.mark.django_db(transaction=True)]
SECRET: Final = "open sesame"
JSON: Final = "application/json"


class ChestLockedError(PageError, code="chest-locked"):
    status = 409
    message = "The chest is locked."


class ChestBurnsError(PageError, code="chest-burns"):
    status = 503
    message = "The chest burns."


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """How a chest is locked."""

    label: str = parameter("none", "--label", line=Line(label="Label", most=9))


@dataclass(frozen=True, slots=True, kw_only=True)
class LockAtTerminal(Lock):
    """What a command says besides."""

    turns: int = parameter(1, "--turns", type=int)
    label: str = parameter("of a command", "--label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """A chest that was locked."""

    owner: str
    label: str
    turns: int
    word: str


def own_chest(caller: User) -> str:
    return caller.username


def chest_of(owner: str) -> str:
    return owner


def lock(owner: str, new: Lock, _: Stamp) -> Locked:
    if new.label == "locked":
        raise ChestLockedError
    if new.label == "burning":
        raise ChestBurnsError
    turns = new.turns if isinstance(new, LockAtTerminal) else 0
    return Locked(owner=owner, label=new.label, turns=turns, word=SECRET)


def shown(_: HttpRequest, owner: str, result: Locked) -> HttpResponse:
    return HttpResponse(f"{owner}: {result.word}")


def again(_: HttpRequest, owner: str, form: ChangeForm) -> HttpResponse:
    text = " ".join([owner, *form.errors.get("label", []), *form.non_field_errors()])
    return HttpResponse(text, status=form.status)


OWN: Final = Change(
    of=Subject(noun="chest", role=VIEWER, scope="write", find=own_chest),
    name="lock",
    help="Lock a chest.",
    parameters=Lock,
    do=lock,
    result=Locked,
    says=lambda one: one.word,
    kept=lambda one: {"owner": one.owner},
    record=Record("lamp.lock"),
    call=Call("POST", "chests/own", view="OwnChest"),
    page=Page("chests/own/lock", back=lambda _: "/chests/", needs_session=True),
)
OTHER: Final = replace(
    OWN,
    name="shut",
    of=replace(OWN.of, find=chest_of),
    verb=Verb(at_terminal=LockAtTerminal),
    call=None,
    page=(),
)


class ChestCommand(ChangesCommand):
    help = "Chests."
    noun = "chest"


@pytest.fixture(autouse=True)
def addresses(settings: Settings) -> Iterator[None]:
    changes.register(OWN)
    changes.register(OTHER)
    root = ModuleType("urls_with_chests")
    pages = change_patterns(
        "chest", answered={"chest-lock": shown}, failed={"chest-lock": again}
    )
    root.urlpatterns = [*pages, *change_paths("api/v1"), *urls.urlpatterns]  # type: ignore[attr-defined]
    settings.ROOT_URLCONF = root
    yield
    changes.remove(OWN)
    changes.remove(OTHER)


@pytest.fixture
def vera() -> User:
    return User.objects.create_user("vera", role=User.Role.VIEWER)


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    client.force_login(vera)
    return client


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(ChestCommand(), *words, stdout=out)
    return out.getvalue()


def details() -> list[Any]:
    found = AuditEvent.objects.filter(action="lamp.lock").order_by("id")
    return list(found.values_list("detail", flat=True))


def test_a_page_shows_the_secret_and_lets_no_cache_keep_it(viewer: Client) -> None:
    answer = viewer.post("/chests/own/lock", {"label": "oak"})

    assert answer.content.decode() == f"vera: {SECRET}"
    assert answer["Cache-Control"] == "no-store"
    assert not list(get_messages(answer.wsgi_request))


def test_the_record_has_what_may_be_kept(viewer: Client) -> None:
    viewer.post("/chests/own/lock", {"label": "oak"})
    viewer.post("/api/v1/chests/own", {}, content_type=JSON)
    run("shut", "ada")

    assert details() == [{"owner": "vera"}, {"owner": "vera"}, {"owner": "ada"}]


def test_a_call_that_is_repeated_is_not_told_the_secret(viewer: Client) -> None:
    first, second = (
        viewer.post(
            "/api/v1/chests/own",
            {},
            content_type=JSON,
            headers={"Idempotency-Key": "one"},
        )
        for _ in range(2)
    )

    assert (first.status_code, first.json()["word"]) == (201, SECRET)
    assert second.status_code == 409
    assert SECRET not in second.content.decode()
    assert SECRET not in KeptAnswer.objects.get().body


def test_a_secret_cannot_be_in_a_message() -> None:
    with pytest.raises(ValueError, match="no page shows it"):
        change_patterns("chest")


@pytest.mark.parametrize("sent", [{}, {"caller": "ada"}, {"owner": "ada"}])
def test_a_form_cannot_name_another_caller(viewer: Client, sent) -> None:
    answer = viewer.post("/chests/own/lock", {"label": "oak", **sent})

    assert answer.content.decode() == f"vera: {SECRET}"


@pytest.mark.parametrize("name", ["caller", "owner"])
def test_a_call_cannot_name_another_caller(viewer: Client, name: str) -> None:
    in_body = viewer.post("/api/v1/chests/own", {name: "ada"}, content_type=JSON)
    in_query = viewer.post(f"/api/v1/chests/own?{name}=ada", {}, content_type=JSON)

    assert (in_body.status_code, in_query.status_code) == (400, 400)
    assert details() == []


def test_a_command_has_no_caller() -> None:
    with pytest.raises(ValueError, match="a command has no user"):
        replace(OWN, verb=Verb())


def test_a_key_cannot_send_a_form_that_needs_a_session(
    client: Client, vera: User
) -> None:
    headers = {**new_api_key(vera), "Accept": JSON}

    answer = client.post("/chests/own/lock", {"label": "oak"}, headers=headers)

    assert (answer.status_code, answer.json()["error"]) == (403, "session-required")
    assert details() == []


def test_a_refusal_is_shown_on_the_page_of_the_form_with_its_status(viewer) -> None:
    answer = viewer.post("/chests/own/lock", {"label": "locked"})

    assert answer.status_code == 409
    assert answer.content.decode() == "vera The chest is locked."


def test_a_fault_of_the_server_is_a_page_of_its_own(viewer: Client) -> None:
    answer = viewer.post("/chests/own/lock", {"label": "burning"})

    assert answer.status_code == 503
    assert "<html" in answer.content.decode()


def test_a_command_takes_values_that_nothing_else_takes(viewer: Client) -> None:
    locked = json.loads(run("shut", "ada", "--turns", "3", "--json"))
    call = viewer.post("/api/v1/chests/own", {"turns": 3}, content_type=JSON)
    page = viewer.post("/chests/own/lock", {"turns": "3"})

    assert (locked["turns"], locked["label"]) == (3, "of a command")
    assert call.status_code == 400
    assert page.status_code == 200
    assert run("shut", "ada") == f"{SECRET}\n"


def test_a_verb_without_a_name_that_it_needs_is_refused() -> None:
    with pytest.raises(CommandError, match="owner"):
        run("shut")
