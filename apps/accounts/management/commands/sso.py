"""`deltaweb sso ...`: whether single sign-on works, and who gets in."""

import sys
from pathlib import Path
from typing import Final

from django.core.management.base import CommandError
from django.utils import timezone

from apps.accounts.sign_on.check import (
    AdmissionCheck,
    check_claims,
    check_set_up,
)
from apps.pages.actions import command_stamp
from apps.pages.command import Output, SubcommandsCommand, argument, subcommand
from deltaweb.environment.bounded_json import parse_json
from deltaweb.environment.command_lines import COMMANDS

MAX_BYTES: Final = 1 << 20


class Command(SubcommandsCommand):
    """The commands that read sign-on; its settings are environment variables."""

    help = COMMANDS["sso"]

    @subcommand(
        "check",
        "test the set-up of single sign-on, or say who would be admitted",
        argument(
            "--claims",
            metavar="FILE|JSON",
            help="the claims of a person: a JSON object, a file of one, or - for stdin",
        ),
    )
    def check_sign_on(self, *, claims: str | None) -> Output:
        if claims is not None:
            return _admission(check_claims(_read(claims), command_stamp()))
        found = check_set_up(timezone.now())
        lines = [f"{one.state:<8} {one.name}: {one.text}" for one in found.findings]
        failure = (
            "The set-up of single sign-on has a problem." if found.problems else ""
        )
        return Output(data=found, lines=lines, failure=failure)


def _admission(found: AdmissionCheck) -> Output:
    account = f" as {found.account!r}" if found.account else " with a new account"
    lines = [
        f"Admitted{account}, role {found.role}." if found.admitted else "Not admitted.",
        *(f"  {one}" for one in found.reasons),
        *(f"  In the group {one!r}." for one in found.groups),
        *(f"  Not in {one}." for one in found.left_out),
    ]
    failure = "" if found.admitted else "This person would not be admitted."
    return Output(data=found, lines=lines, failure=failure)


def _read(text: str) -> dict[str, object]:
    """Read claims of an option."""
    try:
        if text == "-":
            text = sys.stdin.read(MAX_BYTES)
        elif not text.lstrip().startswith("{"):
            with Path(text).open(encoding="utf-8") as file:
                text = file.read(MAX_BYTES)
        found = parse_json(text.encode())
    except OSError as error:
        message = f"{text:.200} cannot be read: {error.strerror}."
        raise CommandError(message) from error
    except (ValueError, RecursionError) as error:
        message = "--claims is not JSON. Give the claims of an id token as an object."
        raise CommandError(message) from error
    if not isinstance(found, dict):
        message = "--claims is not a JSON object."
        raise CommandError(message)
    return found
