"""What a command line says of itself: its words, each with a sentence, and near misses.

Nothing here loads Django or reads a setting: the list is there at once.
"""

import os
import re
import sys
from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final, NoReturn

COMMANDS: Final = {
    "serve": "Set up the database and run the web server, the workers and the clock.",
    "open": "Register and index one table, serve it, and open it in a browser.",
    "demo": "Serve the sample tables from a separate home folder, and open a browser.",
    "web": "Serve the pages and the sharing protocol.",
    "worker": "Run jobs from the queues.",
    "beat": "Send the periodic tasks: probes of tables, sweeps of lost jobs.",
    "migrate": "Upgrade the database to this version; serve does this as well.",
    "backup": "Write the database and the secret key to one encrypted file.",
    "restore": "Put a backup in place of the database, on any database engine.",
    "restored": "After a restore: what is to be decided, and what came back.",
    "table": "Tables: the catalog, their logs, and maintenance.",
    "access": "Access: who can see a table and why, and requests of access.",
    "namespace": "Namespaces: their description, owner, and who can see their tables.",
    "grant": "Grants: rights on a table or a namespace, for groups and people.",
    "health": "Health: what the rules found, who takes care of it, and thresholds.",
    "parquet": "Parquet files: what their footers say, their rows, and their schemas.",
    "storage": "Object stores: connections, and the keys that they use.",
    "share": "Shares: the tables that they offer, and the columns and rows of these.",
    "recipient": "Recipients: their grants, tokens, limits, holds and reminders.",
    "received": "Received shares: the tables that providers share with you.",
    "completion": "Print the completion script for bash, zsh or fish.",
    "user": "Users: their roles, sign-in links and API keys.",
    "sso": "Single sign-on: whether it works, and who would be admitted.",
    "group": "Groups: their members, and the permissions that they have.",
    "doctor": "Check the set-up of this installation, and say what to do.",
    "follow": "Following: which events people hear of, and by which channel.",
    "unfollow": "Stop following a table or a namespace.",
    "webhook": "Webhooks: addresses that get events as signed requests.",
    "switch": "Switches: sign-in, sharing, jobs, writes and notifications, off and on.",
}
"""The commands of `deltaweb`, in the order in which they are listed."""

FIRST: Final = """A browser for Delta tables, and a server that shares them.

First:
  deltaweb demo                       shows the sample tables
  deltaweb serve /data/lake           shows every table below a folder
  deltaweb open /data/lake/orders     shows one table
  deltaweb table show LOCATION        says in this terminal what a table is
"""
"""What somebody reads who types the name alone."""

EXITS: Final = "Exit codes: 0 done; 1 refused, in one sentence on stderr; 2 bad usage."
STARTS: Final = ("serve", "open", "demo")
BAD_USAGE: Final = 2
ASK_HELP: Final = frozenset({"-h", "--help"})
VERB: Final = re.compile(
    r'^class (\w+)Verb\([^)]*\):\n    """(.+?)(?:"""|$)', re.MULTILINE
)
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
    return f"usage: {line} {kind} ..."


def unknown(line: str, kind: str, word: str, words: Mapping[str, str]) -> str:
    """Say that there is no such word, and which may be meant."""
    said = (
        f"Error: {word!r} is not a {kind.lower()} of {line}.",
        did_you_mean(word, words),
        f"'{line} --help' lists them.",
    )
    return " ".join(filter(None, said))


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Ask for the nearest words, two at most; "" where none is near."""
    close = get_close_matches(word, [*words], n=2)
    return f"Did you mean {' or '.join(map(repr, close))}?" if close else ""


def meant_by(
    error: Exception, names_of: Mapping[str, Callable[[], Iterable[str]]]
) -> str:
    """Ask for the nearest of the names that there are; "" where none is wrong.

    Args:
        error: Of a name, if it has a `code` and a `name`, and no `similar` ones itself.
        names_of: By the code of an error, what finds the names.
    """
    names = names_of.get(getattr(error, "code", ""))
    if names is None or getattr(error, "similar", None):
        return ""
    return did_you_mean(getattr(error, "name", ""), sorted(names()))


def verbs_of(folder: Path) -> dict[str, tuple[str, str, str]]:
    """Return module, class and first line of docstring of verbs; none is imported."""
    found = {}
    for file in folder.glob("[a-z]*.py"):
        for name, said in VERB.findall(file.read_text(encoding="utf-8")):
            sentence = said[:1].lower() + said[1:].removesuffix(".")
            verb = re.sub(r"\B(?=[A-Z])", "-", name).lower()
            found[verb] = file.stem, f"{name}Verb", sentence
    return dict(sorted(found.items()))


class NearestOption(ArgumentParser):
    """Refuses options that it has not, and names the nearest that it has."""

    def parse_known_args(  # type: ignore[override]  # argparse has overloads
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Read what is known; anything else is bad usage."""
        found, others = super().parse_known_args(args, namespace)
        if others:
            option = others[0].partition("=")[0]
            known = self._option_string_actions if option[:2] == "--" else ()
            meant = did_you_mean(option, known)
            self.error(f"unrecognized arguments: {' '.join(others)} {meant}".strip())
        return found, others


def refuse(line: str, kind: str, word: str, words: Mapping[str, str]) -> NoReturn:
    """End the process as bad usage: with all words, or with the nearest of one."""
    if word:
        said = f"{usage(line, kind)}\n{unknown(line, kind, word, words)}"
    else:
        said = listed(line, kind, words)
    print(said, file=sys.stderr)  # noqa: T201  # argparse's own way
    sys.exit(BAD_USAGE)


def refuse_django(line: str, word: str) -> NoReturn:
    """End the process as bad usage: the word is a command of Django's."""
    said = (
        f"Error: {word!r} is a command of Django's, not of {line}: manage.py runs it. "
        f"'{line} --help' lists those of {line}."
    )
    print(said, file=sys.stderr)  # noqa: T201  # as above
    sys.exit(BAD_USAGE)
