"""The verbs of a command, made of the changes of its noun."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from apps.pages.actions import command_stamp
from apps.pages.changes.change import AnyChange, Verb, changes
from apps.pages.changes.parameters import add_parameters, given, read_values
from apps.pages.command import (
    YES,
    Argument,
    Declared,
    Handler,
    Output,
    SubcommandsCommand,
    flag,
    takes_writing_options,
)
from apps.pages.page_json import json_of, json_with
from deltaweb.environment.command_lines import BAD_USAGE


class ChangesCommand(SubcommandsCommand):
    """A command that has the changes of a noun as verbs, besides its own.

    Attributes:
        noun: As `Change` has it; the name of the command.
    """

    noun: ClassVar[str]

    def subcommands(self) -> Iterable[tuple[Declared, Handler]]:
        """Return its own subcommands, then the changes."""
        yield from super().subcommands()
        for name, found in verbs_of(self.noun).items():
            first = next(iter(found.values()))
            arguments: list[Argument] = [partial(_add_names, first)]
            arguments += [partial(add_parameters, kind=kind) for kind in _kinds(found)]
            arguments += [flag(one, _words(found[one])) for one in found if one]
            if any(one.verb and one.verb.would for one in found.values()):
                arguments.append(takes_writing_options)
            elif any(one.verb and one.verb.question for one in found.values()):
                arguments.append(YES)
            declared = Declared(name, _words(first), tuple(arguments))
            yield declared, partial(self._change, found)

    def _change(self, found: Mapping[str, AnyChange], **options: Any) -> Output:  # noqa: ANN401 (as argparse read them)
        change = _chosen(found, options)
        verb = change.verb or Verb()
        subject = change.of.find(**{name: options[name] for name in change.of.names})
        kind = change.of_command
        values = read_values(kind, given(options))
        others = values.keys() - {one.name for one in fields(kind)}
        if others:
            message = f"{verb.flag} does not go with {', '.join(sorted(others))}."
            raise CommandError(message, returncode=BAD_USAGE)
        asked = kind(**values)
        if verb.would is not None and options.get("dry_run"):
            with transaction.atomic():
                result = change.carry_out(subject, asked, command_stamp())
                transaction.set_rollback(True)
            would_be, said = verb.would(result)
            return Output(json_of(would_be), said)
        if verb.question is not None:
            yes = options.get("yes", False)
            self.confirm(verb.question(subject, asked), yes=yes)
        result = change.carry_out(subject, asked, command_stamp())
        data = json_of(result)
        if verb.warns is not None:
            warnings = list(verb.warns(subject, result))
            for sentence in warnings:
                self.warn(sentence)
            data = json_with(result, warnings=warnings)
        return Output(data, change.says(result))


def verbs_of(noun: str) -> dict[str, dict[str, AnyChange]]:
    """Return the changes of a noun by verb, then by flag; that without one first."""
    found: dict[str, dict[str, AnyChange]] = {}
    verbs = [(one.verb.flag, one) for one in changes.of(noun) if one.verb is not None]
    for flag_of_one, one in sorted(verbs, key=lambda found: bool(found[0])):
        found.setdefault(one.name, {})[flag_of_one] = one
    return found


def _add_names(change: AnyChange, parser: CommandParser) -> None:
    for name in change.of.names:
        said = change.of.metavars.get(name, name)
        if said.startswith("--"):
            parser.add_argument(said, dest=name, required=True, metavar="NAME")
        else:
            parser.add_argument(name, metavar=said)


def _kinds(found: Mapping[str, AnyChange]) -> Iterator[type]:
    """Yield the parameters of the changes of a verb, each once."""
    yield from dict.fromkeys(one.of_command for one in found.values())


def _words(change: AnyChange) -> str:
    """Return what a change does as a command says it: `keep versions of a table`."""
    return f"{change.help[0].lower()}{change.help[1:].rstrip('.')}"


def _chosen(found: Mapping[str, AnyChange], options: Mapping[str, Any]) -> AnyChange:
    """Return the change whose flag was given, or else the one without a flag."""
    given_flags = [
        one for one in found if one and options[one.strip("-").replace("-", "_")]
    ]
    if len(given_flags) > 1:
        message = f"Give one of {', '.join(given_flags)}."
        raise CommandError(message, returncode=BAD_USAGE)
    if not given_flags and "" not in found:
        message = f"Give one of {', '.join(found)}."
        raise CommandError(message, returncode=BAD_USAGE)
    return found["".join(given_flags)]
