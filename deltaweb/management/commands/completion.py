"""`deltaweb completion SHELL`: what completes its command lines."""

from argparse import Action, ArgumentParser

import shtab
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, CommandParser

from deltaweb.environment.command_lines import COMMANDS
from deltaweb.management import UNLISTED

SHELLS = ("bash", "zsh", "fish")


class Command(BaseCommand):
    """Print a script, made of the commands' own arguments."""

    help = "Print the completion script for bash, zsh or fish."
    requires_system_checks: list[str] = []
    suppressed_base_arguments = {*UNLISTED}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "shell",
            choices=SHELLS,
            help="bash: source <(deltaweb completion bash); the same for the others",
        )

    def handle(self, *, shell: str, **_: object) -> None:
        self.stdout.write(shtab.complete(whole_parser(), shell))


def whole_parser() -> ArgumentParser:
    """Return one parser of every command, verb and option."""
    parser = ArgumentParser(prog="deltaweb")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers()
    holders = get_commands()
    for name, said in COMMANDS.items():
        own = load_command_class(str(holders[name]), name).create_parser(
            "deltaweb", name
        )
        commands.add_parser(
            name,
            help=said,
            parents=[own],
            add_help=False,
            conflict_handler="resolve",
        )
    for action in _positionals(parser):
        action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab's own way
    return parser


def _positionals(parser: ArgumentParser) -> list[Action]:
    """Return the arguments whose values nobody lists: names, or places on this disk."""
    found = []
    for action in parser._actions:  # noqa: SLF001  # argparse has no other way
        if isinstance(action.choices, dict):
            for sub in action.choices.values():
                found += _positionals(sub)
        elif not action.option_strings and not action.choices:
            found.append(action)
    return found
