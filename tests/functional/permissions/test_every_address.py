"""Each address of pages and of the REST API, for every kind of caller.

The addresses are those that are registered, so a new one is asked as well. `access.txt`
has the answer to each caller: a new address without a line fails, until its line was
written (`python -m pytest tests/functional/permissions --write-access`) and read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import transaction
from django.test import Client
from django.test.utils import override_settings

from apps.accounts.models import User
from tests.functional.sharing_api.ruled import close_file
from tests.golden.surfaces import url_lines
from tests.support import by_turns
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.logs.local_logs import LocalLog
from tests.support.pages.factories import (
    new_api_key,
    new_grant_of_right,
    new_recipient,
    new_table,
    new_token,
    new_user,
)

ACCESS: Final = Path(__file__).with_name("access.txt")
SECRET: Final = ("staff", "salary")
"""Names that only who sees the table may read: its own, and that of its column."""
SPACE: Final = "hr"
HIDDEN, UNKNOWN = "staff", "stafg"
VALUES: Final[Mapping[str, str]] = {
    "namespace": SPACE,
    "name": HIDDEN,
    "before": "0",
    "after": "1",
    "version": "0",
    "versions": "0...1",
    "row": "0",
    "language": "spark",
    "full_name": f"{SPACE}.{HIDDEN}",
}
"""What stands in an address for its parameters; others have a value of their type."""
OF_TYPE: Final = {"int": "1", "uuid": str(UUID(int=1)), "str": "x", "path": "x"}
METHODS: Final = ("GET", "POST")


@cache
def addresses() -> list[str]:
    """Return the routes of all addresses, without those that are patterns."""
    routes = {line.split(" ")[0] for line in url_lines()}
    return sorted(one for one in routes if not re.search(r"[\^$\\(]", one))


def is_of_table(route: str) -> bool:
    """Whether an address is one of a table that is named in it."""
    return "<str:namespace>/<str:name>" in route or "/thresholds/<str:name" in route


def filled(route: str, name: str = HIDDEN) -> str:
    """Return an address with a value for each parameter."""

    def value(found: re.Match[str]) -> str:
        kind, _, parameter = found[1].rpartition(":")
        if parameter == "name" and is_of_table(route):
            return name
        known = VALUES if is_of_table(route) else {}
        return known.get(parameter, OF_TYPE.get(kind or "str", "x"))

    return re.sub(r"<([^>]+)>", value, route)


class Callers:
    """Every kind of caller, and a private table that some of them see."""

    def __init__(self, root: Path) -> None:
        LocalLog(root).start()
        self.table = new_indexed_table(f"{SPACE}.{HIDDEN}", root)
        self.table.is_private = True
        self.table.save()
        new_table("open.orders")
        self.callers: dict[str, Callable[[], Client]] = {}
        self.add("anonymous", None)
        for role in ("VIEWER", "EDITOR", "ADMIN"):
            self.add(role.lower(), new_user(role.lower(), role=role))
        for right in ("view", "edit", "share", "own"):
            user = new_user(f"with-{right}", role="VIEWER")
            new_grant_of_right(right, self.table, user)
            self.add(right, user)
        editor = new_user("scripted", role="EDITOR")
        for scope in ("read", "write"):
            self.add(f"key {scope}", None, new_api_key(editor, [scope]))
        _, secret = new_token(new_recipient("acme"))
        self.add("token", None, {"Authorization": f"Bearer {secret}"})

    def add(
        self, kind: str, user: User | None, headers: Mapping[str, str] | None = None
    ) -> None:
        def client() -> Client:
            made = Client(raise_request_exception=False, headers=headers)
            if user is not None:
                made.force_login(user)
            return made

        self.callers[kind] = client

    def ask(self, kind: str, method: str, address: str) -> tuple[int, str]:
        """Return the status of an answer and its text; what it did is undone."""
        with transaction.atomic():
            client = self.callers[kind]()
            answer: Any
            if method == "GET":
                answer = client.get(address)
            elif address.startswith("/api/"):
                answer = client.post(address, {}, content_type="application/json")
            else:
                answer = client.post(address)
            text = "" if answer.streaming else answer.content.decode(errors="replace")
            status, place = answer.status_code, answer.get("Location", "")
            if answer.streaming:
                close_file(answer)
            transaction.set_rollback(True)
        return status, f"{place}\n{text}"


@pytest.fixture(scope="module")
def callers(
    module_db: None,  # noqa: ARG001 (a database)
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callers]:
    home = tmp_path_factory.mktemp("access")
    with override_settings(HOME=home, PREPARED_FILES=str(home / "prepared")):
        yield Callers(home / "lake" / HIDDEN)


def alike(text: str, name: str) -> str:
    """Return a text without its table's name, and what is new in each answer."""
    text = text.replace(name, "NAME")
    text = re.sub(r"[0-9a-f]{12}", "REQUEST", text)
    return re.sub(r'(nonce|csrf\w*|value)="[^"]{20,}"', "TOKEN", text)


OUTSIDERS: Final = ("viewer", "key write", "editor", "anonymous", "key read", "token")
OF_TABLES: Final = [one for one in addresses() if is_of_table(one)]
OTHERS: Final = [one for one in addresses() if one not in OF_TABLES]


@by_turns({"route": OF_TABLES, "kind": OUTSIDERS})
@pytest.mark.usefixtures("db")
def test_a_table_that_a_caller_may_not_see_is_unknown(
    callers: Callers, route: str, kind: str
) -> None:
    for method in METHODS:
        hidden = callers.ask(kind, method, filled(route, HIDDEN))
        unknown = callers.ask(kind, method, filled(route, UNKNOWN))

        assert hidden[0] == unknown[0], method
        assert alike(hidden[1], HIDDEN) == alike(unknown[1], UNKNOWN), method


@by_turns({"route": OTHERS, "kind": OUTSIDERS})
@pytest.mark.usefixtures("db")
def test_no_other_address_names_a_table_to_who_may_not_see_it(
    callers: Callers, route: str, kind: str
) -> None:
    _, text = callers.ask(kind, "GET", filled(route))

    assert not [one for one in SECRET if one in text]


WRITTEN: Final = ("anonymous", "viewer", "editor", "admin", "view", "own", "token")


def lines(callers: Callers) -> Iterator[str]:
    """Yield what each address answers to a GET of some kinds of callers."""
    yield f"# {' '.join(WRITTEN)}"
    for route in addresses():
        answers = [callers.ask(kind, "GET", filled(route))[0] for kind in WRITTEN]
        yield f"{route} {' '.join(map(str, answers))}"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("db")
def test_each_address_answers_each_caller_as_is_written(
    callers: Callers, pytestconfig: pytest.Config
) -> None:
    found = list(lines(callers))
    if pytestconfig.getoption("write_access", default=False):
        ACCESS.write_text("\n".join([*found, ""]), encoding="utf-8")

    assert found == ACCESS.read_text(encoding="utf-8").splitlines()


def test_each_address_has_a_line() -> None:
    written = ACCESS.read_text(encoding="utf-8").splitlines()[1:]

    assert [one.split(" ")[0] for one in written] == addresses()
