"""What a command line says of itself: its words, each with a sentence, and near misses.

Nothing here loads Django or reads a setting: the list is there at once.
"""

import os
import sys
from argparse import ArgumentError, ArgumentParser
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final, NoReturn

COMMANDS: Final = {
    "serve": "Set up the database and run the web server, the workers and the clock.",
    "open": "Show one table: register and index it, serve, and open a browser at it.",
    "demo": "Show the sample tables: a server with a home of its own, and a browser.",
    "web": "Serve the pages and the sharing protocol.",
    "worker": "Run jobs from the queues.",
    "beat": "Send the periodic tasks: probes of tables, sweeps of lost jobs.",
    "migrate": "Bring the database to what this version expects; serve does so, too.",
    "table": "Tables: the catalogue, what their logs say, and their upkeep.",
    "parquet": "Parquet files: what their footers say, their rows, and their schemas.",
    "storage": "Object stores: add, list, remove, reseal.",
    "share": "Shares: create, add-table, list, show, remove-table, delete.",
    "recipient": (
        "Recipients: create, list, show, grant, ungrant, link, rotate, revoke, delete."
    ),
    "user": "Users: add, sign-in link, role, disable, enable, list, API key.",
}
"""The commands of `deltaweb`, in the order in which they are listed."""

STARTS: Final = ("serve", "open", "demo")
BAD_USAGE: Final = 2
ASK_HELP: Final = frozenset({"-h", "--help"})
_TAKE_A_VALUE: Final = ("-v", "--verbosity", "--settings", "--pythonpath")


def first_word(arguments: Sequence[str]) -> str:
    """Return the first argument that is no option; empty where there is none."""
    is_value = False
    for argument in arguments:
        if not is_value and argument[:1] != "-":
            return argument
        is_value = argument in _TAKE_A_VALUE
    return ""


def take_place(arguments: Sequence[str]) -> None:
    """Take `--port` and `--home` of a start into the variables that settings read.

    What is wrong with them the command says itself.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--port")
    parser.add_argument("--home")
    try:
        found, _ = parser.parse_known_args(arguments)
    except ArgumentError:
        return
    if found.port:
        os.environ["PORT"] = found.port
    if found.home:
        os.environ["DELTAWEB_HOME"] = str(Path(found.home).expanduser().absolute())


def listed(line: str, kind: str, words: Mapping[str, str], about: str = "") -> str:
    """Return what `line --help` says: each word with its sentence."""
    width = max(map(len, words))
    said = "\n".join(f"  {word.ljust(width)}  {words[word]}" for word in words)
    head = f"{usage(line, kind)}\n\n" + f"{about}\n\n" * bool(about)
    return f"{head}{said}\n\n'{line} {kind} --help' says more."


def usage(line: str, kind: str) -> str:
    """Return how a line begins."""
    return f"usage: {line} {kind} ..."


def unknown(line: str, kind: str, word: str, words: Mapping[str, str]) -> str:
    """Say that there is no such word, and which may be meant."""
    close = get_close_matches(word, words, n=2)
    meant = " or ".join(repr(one) for one in close)
    question = f" Did you mean {meant}?" if close else ""
    return (
        f"Error: {word!r} is no {kind.lower()} of {line}.{question} "
        f"'{line} --help' lists them."
    )


def refuse(line: str, kind: str, word: str, words: Mapping[str, str]) -> NoReturn:
    """End the process as bad usage: with all words, or with the nearest of one.

    Raises:
        SystemExit: Always.
    """
    if word:
        said = f"{usage(line, kind)}\n{unknown(line, kind, word, words)}"
    else:
        said = listed(line, kind, words)
    print(said, file=sys.stderr)  # noqa: T201  # argparse's own way
    sys.exit(BAD_USAGE)


def refuse_django(line: str, word: str) -> NoReturn:
    """End the process as bad usage: the word is a command of Django's.

    Raises:
        SystemExit: Always.
    """
    said = (
        f"Error: {word!r} is a command of Django's, not of {line}: manage.py runs it. "
        f"'{line} --help' lists those of {line}."
    )
    print(said, file=sys.stderr)  # noqa: T201  # as above
    sys.exit(BAD_USAGE)
