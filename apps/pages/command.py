"""The base of the commands that scripts rely on: `table ...`, `user ...`.

A command is a group of subcommands. Each is a method that returns an `Output`, and
the base keeps the promises that all of them make:

* `--json` (anywhere on the line): stdout is one JSON document and nothing else.
* Exit 0 on success, 1 with one sentence on stderr on a domain error (DeltawebError,
  PageError, CommandError), 2 on bad usage.
* Warnings and logs go to stderr. With `--json` an error is a JSON document, too:
  `{"error": code, "message": ..., "hint": ...}`.
* What destroys calls `self.confirm(question, yes=yes)` first; `--yes` skips it.

    class Command(SubcommandsCommand):
        help = "Users: add, link, ..."

        def add_subcommands(self, add: AddSubcommand) -> None:
            parser = add("link", self.link, help="print a one-time sign-in link")
            parser.add_argument("name")

        def link(self, *, name: str, **_: object) -> Output:
            url = ...
            return Output(text=url, data={"name": name, "url": url})

A group of many subcommands, or of some that load much, has a folder with a file each:
see `VerbsCommand`.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from pkgutil import iter_modules
from typing import Any, NoReturn, Protocol

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError

from apps.pages.errors import PageError
from apps.pages.responses import to_json
from deltaweb.errors import DeltawebError

YES = {"y", "yes"}


class Error(CommandError):
    """A refusal in one sentence; its name is the word that stderr begins with."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a subcommand answers.

    Attributes:
        data: The JSON document of `--json`.
        text: What a person reads without `--json`.
        lines: A longer answer for a person, written line by line after the text;
            read only when it is written.
        parts: The text of the JSON document in pieces instead of `data`, for one that
            is too large to hold; read only when it is written.
    """

    data: object
    text: str = ""
    lines: Iterable[str] = ()
    parts: Iterable[str] | None = None


class AddSubcommand(Protocol):
    """Adds one subcommand to the group and returns its parser."""

    def __call__(
        self,
        name: str,
        handler: Callable[..., Output],
        *,
        help: str,  # noqa: A002 (argparse's own word)
    ) -> CommandParser:
        """Add the subcommand `name`, which `handler` answers."""
        ...


def takes_json(parser: argparse.ArgumentParser) -> None:
    """Let a subcommand, or a part of one, take `--json` as well."""
    # SUPPRESS: without it the subcommand's default would undo `user --json`.
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS,
        help="answer with one JSON document on stdout",
    )


class SubcommandsCommand(BaseCommand):
    """A management command made of subcommands; see the module's docstring."""

    requires_system_checks: list[str] = []  # a command answers at once
    answers_json = False

    def add_subcommands(self, add: AddSubcommand) -> None:
        """Add each subcommand with `add(name, handler, help=...)`."""
        raise NotImplementedError

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a subcommand; every one of them takes `--json`."""
        parser.add_argument("--json", action="store_true", help="answer as JSON")
        group = parser.add_subparsers(dest="subcommand", required=True, metavar="VERB")

        def add(
            name: str,
            handler: Callable[..., Output],
            *,
            help: str,  # noqa: A002 (argparse's own word)
        ) -> CommandParser:
            sub = group.add_parser(name, help=help, description=help)
            takes_json(sub)
            sub.set_defaults(handler=handler)
            return sub

        self.add_subcommands(add)

    def handle(
        self,
        *_: object,
        handler: Callable[..., Output],
        json: bool,
        **options: Any,  # noqa: ANN401 (as argparse read them)
    ) -> None:
        """Run the subcommand, and write its answer or the sentence of its error."""
        self.answers_json = json
        try:
            output = handler(**options)
            self._write(output, as_json=json)
        except (DeltawebError, PageError) as error:
            self._refuse(error.code, error.message, error.hint, as_json=json)
        except ValidationError as error:
            self._refuse("invalid", " ".join(error.messages), "", as_json=json)
        except (OperationalError, ProgrammingError) as error:
            self._refuse(
                "database-not-ready",
                f"The database does not answer: {str(error).splitlines()[0]}.",
                "Run 'deltaweb migrate' (make run does); see DELTAWEB_DATABASE_URL.",
                as_json=json,
            )
        except CommandError as error:
            if error.returncode == 2:  # noqa: PLR2004 (bad usage)
                raise
            self._refuse("command-error", str(error), "", as_json=json)
        except BrokenPipeError:
            # The reader of the pipe has seen enough (`| head`): nothing is wrong.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def warn(self, sentence: str) -> None:
        """Say something on stderr that does not stop the command."""
        self.stderr.write(f"Warning: {sentence}")

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before something is destroyed; `yes` is the option `--yes`.

        Raises:
            CommandError: If the answer is not yes, or nobody is there to answer.
        """
        if yes:
            return
        self.stderr.write(f"{question} [y/N] ", ending="")
        self.stderr.flush()
        if sys.stdin.readline().strip().lower() not in YES:
            message = "Nothing was changed. Answer yes, or pass --yes."
            raise CommandError(message)

    def _write(self, output: Output, *, as_json: bool) -> None:
        if as_json and output.parts is not None:
            for part in output.parts:
                self.stdout.write(part, ending="")
            return
        if as_json:
            self.stdout.write(to_json(output.data, indent=2))
            return
        if output.text:
            self.stdout.write(output.text)
        for line in output.lines:
            self.stdout.write(line)

    def _refuse(self, code: str, message: str, hint: str, *, as_json: bool) -> NoReturn:
        if as_json:
            body = {"error": code, "message": message, "hint": hint}
            self.stdout.write(to_json(body, indent=2))
        raise Error(" ".join(f"{message} {hint}".split()), returncode=1)


class Subcommand:
    """One subcommand of a `VerbsCommand`; the first line of its docstring is its help.

    Attributes:
        command: The command that it belongs to.
        run: Answers; its options are the arguments that were declared.
    """

    run: Callable[..., Output]

    def __init__(self, command: "VerbsCommand") -> None:
        self.command = command
        self.warn, self.confirm = command.warn, command.confirm

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments; none without this method."""


class VerbsCommand(SubcommandsCommand):
    """A command whose subcommands are the modules of a package.

    The class `Verb` of `check_files.py` is the subcommand `check-files`; a final
    underscore keeps the word free for Python (`import_.py`). Only the module of the
    verb that is called is imported: a command starts with what it needs.

    Attributes:
        verbs: The full name of the package.
    """

    verbs: str
    _asked = ""

    def run_from_argv(self, argv: list[str]) -> None:
        """Look which verb is called, and run."""
        self._asked = next((text for text in argv[2:] if text[:1] != "-"), "")
        super().run_from_argv(argv)

    def add_subcommands(self, add: AddSubcommand) -> None:
        """Add the verb that is called; all where the line names none of them."""
        package = import_module(self.verbs)
        modules = {
            module.name.rstrip("_").replace("_", "-"): module.name
            for module in iter_modules(package.__path__)
        }
        for name in [self._asked] if self._asked in modules else sorted(modules):
            verb = import_module(f"{self.verbs}.{modules[name]}").Verb(self)
            verb.add_arguments(add(name, verb.run, help=_help(verb)))


def _help(verb: Subcommand) -> str:
    first = cleandoc(verb.__doc__ or "").partition("\n")[0].removesuffix(".")
    return first[:1].lower() + first[1:]
