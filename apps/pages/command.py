"""The base of the commands that scripts rely on: `table ...`, `user ...`.

A command is a group of subcommands. Each is a method that says how it is called, takes
its arguments by name and returns an `Output`; the base keeps what all of them promise:

* `--json` (anywhere on the line): stdout is one JSON document and nothing else.
  Values of BIGINT are text in it, since many readers of JSON round them.
* Exit 0 on success, 1 with one sentence on stderr on a domain error (DeltawebError,
  PageError, CommandError), 2 on bad usage.
* Warnings and logs go to stderr. With `--json` an error is a JSON document, too:
  `{"error": code, "message": ..., "hint": ...}`.
* What destroys calls `self.confirm(question, yes=yes)` first; `--yes` skips it. Where
  no one is at a terminal to answer, that is bad usage.

    class Command(SubcommandsCommand):
        help = COMMANDS["user"]

        @subcommand("link", "print a one-time sign-in link", argument("name"))
        def link(self, *, name: str) -> Output:
            url = ...
            return Output(text=url, data={"name": name, "url": url})

A group of many subcommands, or of some that load much, has a folder of modules:
see `VerbsCommand`. Those of them that write stand on `WritingVerb`, which brings
`--dry-run` and `--yes`.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError

from apps.pages.errors import PageError
from apps.pages.first_use import database_on_first_use, embedded_file
from apps.pages.responses import to_json
from deltaweb.environment.command_lines import (
    ASK_HELP,
    BAD_USAGE,
    NearestOption,
    first_word,
    listed,
    meant_by,
    refuse,
    verbs_of,
)
from deltaweb.errors import DeltawebError
from deltaweb.version import VERSION

KIND: Final = "VERB"
TAKEN_BY_ALL: Final = "--json answers with one JSON document; BIGINT is text in it."
AGREED = {"y", "yes"}
# What a terminal obeys: escapes, and what turns the direction of writing. Names and
# texts of other people must not speak to the terminal of who reads them.
_OBEYED: Final = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# What Django adds to every command is taken, and neither listed nor handed on.
OF_DJANGO: Final = frozenset(
    {
        *("verbosity", "settings", "pythonpath", "traceback"),
        *("no_color", "force_color", "skip_checks"),
    }
)
NOT_ITS_OWN: Final = OF_DJANGO | {"subcommand", "stdout", "stderr"}


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
        failure: Why the command ends with 1 although it answers, in a sentence; "" if
            it does not.
        is_exact: Whether text and lines are data, such as CSV. Where no person reads
            them at a terminal, they are written as they are.
    """

    data: object
    text: str = ""
    lines: Iterable[str] = ()
    parts: Iterable[str] | None = None
    failure: str = ""
    is_exact: bool = False


Handler: TypeAlias = Callable[..., Output]
Argument: TypeAlias = Callable[[CommandParser], object]  # declares it, or several
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, slots=True)
class Declared:
    """How a subcommand is called.

    Attributes:
        help: What it does, in words that follow its name.
    """

    name: str
    help: str
    arguments: tuple[Argument, ...] = ()


def argument(*names: str, **how: Any) -> Argument:  # noqa: ANN401 (as argparse has them)
    """Return an argument of a subcommand, said as to argparse."""
    return lambda parser: parser.add_argument(*names, **how)


def flag(name: str, help: str) -> Argument:  # noqa: A002 (argparse's own word)
    """Return an option without a value."""
    return argument(name, action="store_true", help=help)


YES: Final = flag("--yes", "do not ask")


def subcommand(name: str, help: str, *arguments: Argument) -> Callable[[H], H]:  # noqa: A002
    """Let a method of a command answer one of its subcommands."""

    def declare(handler: H) -> H:
        handler.declared = Declared(name, help, arguments)  # type: ignore[attr-defined]  # as a mark
        return handler

    return declare


class NotAskedError(DeltawebError, code="not-asked"):
    """Something is to be destroyed, and nobody is there to say yes."""

    question: str
    message = "Nothing was changed, because there is no terminal to ask {question:q}."
    hint = "Pass --yes to do it, or --dry-run to see what would happen."


class SubcommandParser(NearestOption, CommandParser):
    """Reads the options of a subcommand."""


def takes_json(parser: argparse.ArgumentParser) -> None:
    """Let a subcommand, or a part of one, take `--json` as well."""
    # SUPPRESS: without it the subcommand's default would undo `user --json`.
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS,
        help="answer with one JSON document on stdout; BIGINT values are text in it",
    )


class SubcommandsCommand(BaseCommand):
    """A management command made of subcommands; see the module's docstring.

    Attributes:
        asked: The only subcommand that is to be called; None where that is not known,
            as where code calls the command.
    """

    asked: str | None = None
    requires_system_checks: list[str] = []  # a command answers at once
    # By the code of an error: the names that there are, of which the nearest is told.
    names_of: Mapping[str, Callable[[], Iterable[str]]] = {}
    suppressed_base_arguments = {f"--{name.replace('_', '-')}" for name in OF_DJANGO}
    answers_json = False

    def get_version(self) -> str:
        """Return the version of deltaweb, where Django would say its own."""
        return f"deltaweb {VERSION}"

    def run_from_argv(self, argv: list[str]) -> None:
        """Run; a line that names no subcommand is told which there are."""
        word, line = first_word(argv[2:]), f"{Path(argv[0]).name} {argv[1]}"
        self.asked = word
        if not word and not ASK_HELP.isdisjoint(argv[2:]):
            said = listed(line, KIND, self.described(), f"{self.help} {TAKEN_BY_ALL}")
            self.stdout.write(said)
        elif not self.knows(word) and (word or "--version" not in argv[2:]):
            refuse(line, KIND, word, self.described())
        else:
            super().run_from_argv(argv)

    def knows(self, word: str) -> bool:
        """Tell whether it has a subcommand of this name."""
        return word in self.described()

    def described(self) -> Mapping[str, str]:
        """Return the subcommands, each with what it does."""
        return {declared.name: declared.help for declared, _ in self.subcommands()}

    def subcommands(self) -> Iterable[tuple[Declared, Handler]]:
        """Return the subcommands, those of a base last, each with its method."""
        names = [name for kind in type(self).mro() for name in vars(kind)]
        for handler in (getattr(self, name) for name in dict.fromkeys(names)):
            if declared := getattr(handler, "declared", None):
                yield declared, handler

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a subcommand; every one of them takes `--json`."""
        parser.add_argument("--json", action="store_true", help="answer as JSON")
        group = parser.add_subparsers(
            dest="subcommand",
            required=True,
            metavar=KIND,
            parser_class=SubcommandParser,
        )
        for said, handler in self.subcommands():
            if self.asked not in {None, said.name}:
                continue
            sub = group.add_parser(said.name, help=said.help, description=said.help)
            takes_json(sub)
            sub.set_defaults(handler=handler)
            for declare in said.arguments:
                declare(sub)

    def handle(
        self,
        *_: object,
        handler: Handler,
        json: bool,
        **options: Any,  # noqa: ANN401 (as argparse read them)
    ) -> None:
        """Run the subcommand, and write its answer or the sentence of its error."""
        self.answers_json = json
        options = {name: options[name] for name in options.keys() - NOT_ITS_OWN}
        try:
            with database_on_first_use(self.stderr.write):
                output = handler(**options)
                self._write(output, as_json=json)
        except NotAskedError as error:
            self._refuse(
                *(error.code, error.message, error.hint), as_json=json, code=BAD_USAGE
            )
        except (DeltawebError, PageError) as error:
            hint = f"{meant_by(error, self.names_of)} {error.hint}".strip()
            self._refuse(error.code, error.message, hint, as_json=json)
        except ValidationError as error:
            self._refuse("invalid", " ".join(error.messages), "", as_json=json)
        except (OperationalError, ProgrammingError) as error:
            self._refuse("database-not-ready", *_of_database(error), as_json=json)
        except CommandError as error:
            if error.returncode == BAD_USAGE:
                raise
            self._refuse("command-error", str(error), "", as_json=json)
        except BrokenPipeError:
            # The reader of the pipe has seen enough (`| head`): nothing is wrong.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        else:
            if output.failure:
                raise Error(_shown(output.failure), returncode=1)

    def warn(self, sentence: str) -> None:
        """Say something on stderr that does not stop the command."""
        self.stderr.write(f"Warning: {_shown(sentence)}")

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before something is destroyed; `yes` is the option `--yes`."""
        if yes:
            return
        if not sys.stdin.isatty():
            raise NotAskedError(question=question)
        self.stderr.write(f"{_shown(question)} [y/N] ", ending="")
        self.stderr.flush()
        if sys.stdin.readline().strip().lower() not in AGREED:
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
        as_it_is = output.is_exact and not self.stdout.isatty()
        for text in chain([output.text] if output.text else [], output.lines):
            self.stdout.write(text if as_it_is else _shown(text))

    def _refuse(  # the words of an error, and what the process ends with
        self, name: str, message: str, hint: str, *, as_json: bool, code: int = 1
    ) -> NoReturn:
        if as_json:
            body = {"error": name, "message": message, "hint": hint}
            self.stdout.write(to_json(body, indent=2))
        raise Error(_shown(" ".join(f"{message} {hint}".split())), returncode=code)


def _shown(text: str) -> str:
    """Return a text with what a terminal would obey written out, as Python does."""
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


class Subcommand:
    """One subcommand of a `VerbsCommand`; the first line of its docstring is its help.

    Attributes:
        run: Answers; its options are the arguments that were declared.
    """

    run: Handler

    def __init__(self, command: "VerbsCommand") -> None:
        self.command = command
        self.warn, self.confirm = command.warn, command.confirm

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments; none without this method."""

    def answer(self, **options: Any) -> Output:  # noqa: ANN401  # as argparse read them
        """Run."""
        return self.run(**options)


def takes_writing_options(parser: argparse.ArgumentParser) -> None:
    """Let a verb that writes, or a part of one, only look, and not ask."""
    for option, said in (
        ("--dry-run", "show what would happen, and do nothing"),
        ("--yes", "do not ask"),
    ):
        # SUPPRESS: without it the default of a part would undo what stands before it.
        parser.add_argument(
            option, action="store_true", default=argparse.SUPPRESS, help=said
        )


class WritingVerb(Subcommand):
    """A verb that writes: it can only look, and asks before it destroys.

    It takes `--dry-run`, which its `run` is told as `dry_run`, and `--yes`, which
    answers what it asks by `self.ask`.

    Attributes:
        is_agreed: Whether nobody need be asked.
    """

    is_agreed = False

    def answer(
        self,
        *,
        dry_run: bool = False,
        yes: bool = False,
        **options: Any,  # noqa: ANN401  # as argparse read them
    ) -> Output:
        """Say what would happen, or do it: after asking, where it destroys."""
        self.is_agreed = yes
        return self.run(dry_run=dry_run, **options)

    def ask(self, question: str) -> None:
        """Ask before something is destroyed."""
        self.confirm(question, yes=self.is_agreed)

    def check_somebody_there(self, question: str) -> None:
        """Refuse what nobody will agree to, before much is done to find out more."""
        if not self.is_agreed and not sys.stdin.isatty():
            raise NotAskedError(question=question)


def _of_database(error: Exception) -> tuple[str, str]:
    """Return the message and the hint for a database that does not answer."""
    reason = str(error).splitlines()[0]
    file = embedded_file()
    if file and ("unable to open" in reason or "readonly" in reason):
        return (
            f"The database {file} cannot be opened or written: {reason}.",
            "Point DELTAWEB_HOME (or DELTAWEB_DATABASE_URL) at a folder to write to.",
        )
    return (
        f"The database does not answer: {reason}.",
        "Run 'deltaweb migrate' (make run does); see DELTAWEB_DATABASE_URL.",
    )


class VerbsCommand(SubcommandsCommand):
    """A command whose subcommands are the classes in the modules of a package.

    `CheckFilesVerb` is the subcommand `check-files`. Only the module of the verb that
    is called is imported: a command starts with what it needs, and what each does is
    read off its text. The subcommands of another base, such as changes, come on top.
    """

    verbs: str

    def knows(self, word: str) -> bool:
        """Tell whether it has a verb of this name; none of a module is imported."""
        return word in self._verbs or super().knows(word)

    def described(self) -> Mapping[str, str]:
        """Return the verbs, each with the first line of its docstring."""
        own = {name: sentence for name, (*_, sentence) in self._verbs.items()}
        others = {one.name: one.help for one, _ in super().subcommands()}
        return dict(sorted((own | others).items()))

    def verb(self, name: str) -> type[Subcommand] | None:
        """Return the class of a verb; None if it has none, such as a change."""
        if name not in self._verbs:
            return None
        module, declared, _ = self._verbs[name]
        found: type[Subcommand]
        found = getattr(import_module(f"{self.verbs}.{module}"), declared)
        return found

    def subcommands(self) -> Iterable[tuple[Declared, Handler]]:
        """Return the verb that is called; all where code calls the command."""
        for name, (*_, sentence) in self._verbs.items():
            if self.asked in {None, name} and (kind := self.verb(name)) is not None:
                verb = kind(self)
                more = [takes_writing_options] * isinstance(verb, WritingVerb)
                said = Declared(name, sentence, (verb.add_arguments, *more))
                yield said, verb.answer
        if self.asked not in self._verbs:
            yield from super().subcommands()

    @cached_property
    def _verbs(self) -> dict[str, tuple[str, str, str]]:
        (folder,) = import_module(self.verbs).__path__
        return verbs_of(Path(folder))
