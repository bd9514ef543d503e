"""The command `deltaweb`: its own commands, from any folder.

`manage.py` has those of Django, too.
"""

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from deltaweb.environment.command_lines import (
    ASK_HELP,
    COMMANDS,
    EXITS,
    FIRST,
    STARTS,
    listed,
    refuse,
    refuse_django,
    take_place,
)
from deltaweb.environment.own_process import prepare_process, rare_collections
from deltaweb.version import VERSION

PROGRAM = "deltaweb"
KIND = "COMMAND"
SHELL = "shell"  # a person's own process: pandas is theirs to import
SERVING = (*STARTS, "web")
DEMO = "demo"
PORT = "8000"


def main() -> None:
    """Run one of its own commands; what the environment lacks is one sentence."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    match arguments:
        case ["--version" | "version"]:
            sys.stdout.write(f"{PROGRAM} {VERSION}\n")
            return
        case [word] if word in ASK_HELP:
            sys.stdout.write(f"{listed(PROGRAM, KIND, COMMANDS, EXITS)}\n")
            return
        case []:
            sys.stdout.write(f"{FIRST}\n{listed(PROGRAM, KIND, COMMANDS, EXITS)}\n")
            return
        case [str(word), *_] if word in COMMANDS:
            with rare_collections():
                _run([PROGRAM, *arguments])
            return
    word = arguments[0] if arguments and arguments[0][:1] != "-" else ""
    if word and _is_of_django(word):
        refuse_django(PROGRAM, word)
    refuse(PROGRAM, KIND, word, COMMANDS)


def manage() -> None:
    """Run any management command, Django's among them."""
    with rare_collections():
        _run(sys.argv)


def home_of_demo() -> Path:
    """Return where the samples of `demo` are: beside nobody's own tables."""
    from deltaweb.environment.home import default_home  # noqa: PLC0415  # Django's errors

    return default_home(Path(__file__).resolve().parent) / DEMO


def _is_of_django(word: str) -> bool:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
    import django  # noqa: PLC0415  # only where a line is refused
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
    from django.core.management import get_commands  # noqa: PLC0415

    prepare_process()
    try:
        django.setup()
    except ImproperlyConfigured:
        return False
    return word in get_commands()


def _run(line: Sequence[str]) -> None:
    command = list(line[1:2])
    if command != [SHELL]:
        prepare_process()
    if command and command[0] in COMMANDS and line[2:] == ["--version"]:
        sys.stdout.write(f"{PROGRAM} {VERSION}\n")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
    if command and command[0] in STARTS:
        take_place(line[2:])
        # Where it is called may be a folder of scripts: `celery.py`, `queue.py`.
        os.environ.setdefault("PYTHONSAFEPATH", "1")  # for all that it starts
    if command == [DEMO]:
        os.environ.setdefault("DELTAWEB_HOME", str(home_of_demo()))
    if command and command[0] in SERVING and not os.environ.get("PORT"):
        os.environ["PORT"] = PORT  # not that of the address served last
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
    from django.core.management import execute_from_command_line  # noqa: PLC0415
    from django.db.utils import OperationalError  # noqa: PLC0415

    # A log may hold halves of characters, which no encoding has; in JSON this is
    # their very spelling.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        execute_from_command_line([*line])
    except ImproperlyConfigured as error:
        sys.exit(f"Error: {error}")
    except OperationalError as error:
        reason = str(error).partition("\n")[0]
        sys.exit(
            f"Error: The database does not answer: {reason}."
            " See DELTAWEB_DATABASE_URL and DELTAWEB_HOME."
        )


if __name__ == "__main__":
    main()
