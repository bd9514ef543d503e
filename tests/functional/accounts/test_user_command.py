"""`deltaweb user ...` as scripts call it."""

import io
import sys
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client

from apps.accounts.models import User
from tests.functional.command_line import Ran, run_json
from tests.support.pages.factories import new_user

pytestmark = pytest.mark.django_db


def user(*arguments: str) -> str:
    return Ran("user", *arguments).stdout


def user_json(*arguments: str) -> Any:  # noqa: ANN401 (any JSON document)
    return run_json("user", *arguments)


def test_add_reads_a_password_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("a long enough phrase\n"))

    added = user_json("add", "vera", "--role", "editor", "--password-stdin")

    assert (added["name"], added["role"], added["active"]) == ("vera", "editor", True)
    assert User.objects.get().check_password("a long enough phrase")


def test_link_prints_a_link_that_works() -> None:
    new_user("vera")

    url = user("link", "vera").strip()

    client = Client()
    assert client.post("/" + url.split("/", 3)[3]).status_code == 302
    assert client.get("/me.json").json()["name"] == "vera"


def test_key_prints_a_key_that_works() -> None:
    new_user("vera")

    issued = user_json("key", "vera")

    headers = {"Authorization": f"Bearer {issued['key']}"}
    assert Client().get("/me.json", headers=headers).json()["name"] == "vera"


def test_key_takes_scopes_and_an_end() -> None:
    new_user("vera")

    issued = user_json("key", "vera", "--scope", "share", "--expires", "90d")

    assert issued["scopes"] == ["read", "share"]
    assert issued["state"] == "active"
    assert issued["expires_at"] > issued["created_at"]


def test_list_shows_every_account() -> None:
    new_user("ada", role=User.Role.ADMIN)
    new_user("vera", is_active=False)

    rows = user_json("list")

    assert [(row["name"], row["role"], row["active"]) for row in rows] == [
        ("ada", "admin", True),
        ("vera", "viewer", False),
    ]
    header, *lines = user("list").splitlines()
    assert header.split() == ["NAME", "ROLE", "STATE"]
    assert [line.split()[-1] for line in lines] == ["active", "disabled"]


def test_list_is_a_file_of_csv_as_well() -> None:
    client = Client()
    client.force_login(new_user("ada", role=User.Role.ADMIN))

    named, paged = client.get("/users.csv"), client.get("/admin-area.csv")

    assert named.status_code == 200
    assert named.getvalue() == paged.getvalue()


def test_set_role_disable_and_enable() -> None:
    new_user("ada", role=User.Role.ADMIN)
    new_user("vera")

    assert user_json("set-role", "vera", "editor")["role"] == "editor"
    assert user_json("disable", "vera")["active"] is False
    assert user_json("enable", "vera")["active"] is True


def test_a_refusal_is_one_sentence() -> None:
    with pytest.raises(CommandError, match="No user is named 'nobody'") as refusal:
        user("link", "nobody")

    assert refusal.value.returncode == 1
