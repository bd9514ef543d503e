"""A verb with a dry run makes its change, says what it would do, and rolls it back."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    Change,
    Nothing,
    Record,
    Subject,
    Verb,
    changes,
)
from apps.pages.changes.command import ChangesCommand
from tests.functional.command_line import Terminal

pytestmark = [pytest.mark.django_db(transaction=True)]
committed: list[str] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Sold:
    """A lamp that has another owner."""

    name: str
    is_sold: bool = True


def sell(lamp: User, _: Nothing, __: Stamp) -> Sold:
    transaction.on_commit(lambda: committed.append(lamp.username))
    lamp.delete()
    return Sold(name=lamp.username)


def would_sell(one: Sold) -> tuple[Sold, str]:
    return replace(one, is_sold=False), f"Would sell {one.name}."


class LampCommand(ChangesCommand):
    help = "Lamps."
    noun = "lamp"


LAMPS: Final = Subject(
    noun="lamp",
    role=ADMIN,
    scope="write",
    find=lambda name: User.objects.get(username=name),
)
SELL: Final = Change(
    of=LAMPS,
    name="sell",
    help="Sell a lamp.",
    parameters=Nothing,
    do=sell,
    result=Sold,
    says=lambda one: f"Sold {one.name}.",
    record=Record("lamp.sell"),
    verb=Verb(would=would_sell, question=lambda lamp, _: f"Sell {lamp.username}?"),
)


@pytest.fixture(autouse=True)
def lamp() -> Iterator[None]:
    committed.clear()
    User.objects.create_user("desk")
    changes.register(SELL)
    yield
    changes.remove(SELL)


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(LampCommand(), "sell", "desk", *words, stdout=out)
    return out.getvalue()


def test_a_dry_run_says_what_would_be_and_changes_nothing() -> None:
    said = run("--dry-run")
    told = json.loads(run("--dry-run", "--yes", "--json"))

    assert said == "Would sell desk.\n"
    assert told == {"name": "desk", "is_sold": False}
    assert User.objects.filter(username="desk").exists()
    assert not AuditEvent.objects.exists()
    assert committed == []


def test_without_it_the_change_is_made_once_it_is_agreed_to(monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("no\n"))
    with pytest.raises(CommandError, match="Nothing was changed"):
        run()
    assert User.objects.filter(username="desk").exists()

    assert run("--yes") == "Sold desk.\n"
    assert not User.objects.filter(username="desk").exists()
    assert AuditEvent.objects.get().action == "lamp.sell"
    assert committed == ["desk"]


def test_a_change_that_is_not_in_one_transaction_has_no_dry_run() -> None:
    with pytest.raises(ValueError, match="no dry run"):
        replace(SELL, is_atomic=False)


def test_a_verb_without_one_does_not_take_the_option() -> None:
    changes.register(replace(SELL, verb=Verb()))

    with pytest.raises(CommandError, match="--dry-run"):
        run("--dry-run")
