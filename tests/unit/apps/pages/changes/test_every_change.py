"""What all changes keep to, as they are declared."""

import re
from dataclasses import MISSING, fields
from inspect import signature
from typing import Any
from uuid import UUID

import pytest

from apps.accounts.models import Scope, User
from apps.pages.changes.change import Change, changes
from apps.pages.changes.change import names_of as names_taken
from apps.pages.changes.forms import form_of, lines_of
from apps.pages.changes.parameters import ARGUMENT
from apps.pages.page_json import names_of
from apps.pages.request.changes import UNCHANGED, ChangeForm
from apps.sharing.activity.action_words import WORDS

AnyChange = Change[Any, Any, Any]
NAMED = re.compile(r"<[a-z]+:([a-z_]+)>")
every_change = pytest.mark.parametrize(
    "change", list(changes), ids=lambda one: " ".join(one.key).strip()
)


def test_there_are_changes() -> None:
    assert {"hold"} <= {one.name for one in changes}


@every_change
def test_is_for_a_role_and_a_scope_that_there_are(change: AnyChange) -> None:
    assert change.of.role in User.Role.values
    assert change.of.scope in Scope.values
    assert Scope(change.of.scope) is not Scope.READ


@every_change
def test_is_found_by_the_names_of_its_addresses(change: AnyChange) -> None:
    if change.call is not None:
        found_by = names_taken(change.call.find or change.of.find)
        assert set(NAMED.findall(change.call.route)) == set(found_by)
    for page in change.pages.values():
        names = signature(page.find or change.of.find).parameters
        assert set(NAMED.findall(page.route)) <= names.keys()


@every_change
def test_says_what_it_does_in_a_sentence(change: AnyChange) -> None:
    assert re.fullmatch(r"[A-Z][^.]+\.", change.help)
    assert names_of(change.result)


@every_change
def test_has_records_that_have_words(change: AnyChange) -> None:
    assert change.records.names
    assert change.records.names <= WORDS.keys()


@every_change
def test_leaves_alone_what_an_update_does_not_send(change: AnyChange) -> None:
    call = change.call
    if change.records.fields or (call is not None and call.method in {"PATCH", "PUT"}):
        assert {one.default for one in fields(change.parameters)} <= {
            UNCHANGED,
            MISSING,
        }


@every_change
def test_can_be_made_by_each_of_its_doors(change: AnyChange) -> None:
    """A parameter without a default has an option, and a line if there is a page."""
    lines = lines_of(change.parameters)
    for one in fields(change.parameters):
        if one.default is MISSING and one.default_factory is MISSING:
            assert one.metadata[ARGUMENT].option is not None
            assert not change.pages or lines[one.name].is_needed
    in_form = {line.name or name for name, line in lines.items()}
    assert form_of(change.parameters, ChangeForm).base_fields.keys() == in_form


@every_change
@pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
@pytest.mark.django_db
def test_is_refused_at_each_door_without_the_role(client, change, role) -> None:
    if User.Role.values.index(change.of.role) <= User.Role.values.index(role):
        return
    client.force_login(User.objects.create_user("eve", role=role))
    routes = {page.route: "post" for page in change.pages.values()}
    if change.call is not None:
        routes[f"api/v1/{change.call.route}"] = change.call.method.lower()

    answers = {
        route: getattr(client, how)(address(route)) for route, how in routes.items()
    }

    assert {one.status_code for one in answers.values()} <= {403}


def address(route: str) -> str:
    """An address of a route, with names of nothing."""
    found = re.sub(r"<uuid:\w+>", str(UUID(int=0)), route)
    return "/" + re.sub(r"<str:\w+>", "x", re.sub(r"<int:\w+>", "1", found))
