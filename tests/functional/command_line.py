"""Commands as tests run them: what they write, and how they refuse."""

import io
import json
from typing import Any

import pytest
from django.core.management import (
    CommandError,
    call_command,
    get_commands,
    load_command_class,
)

from apps.pages.command import SubcommandsCommand
from deltaweb.environment.command_lines import first_word


class Terminal(io.StringIO):
    """What somebody at a terminal types."""

    def isatty(self) -> bool:
        return True


class Ran:
    """What a command wrote."""

    def __init__(self, *arguments: object) -> None:
        out, err = io.StringIO(), io.StringIO()
        name, *line = map(str, arguments)
        command = load_command_class(get_commands()[name], name)
        # As of a line: to declare the options of all others takes longer than to run.
        if isinstance(command, SubcommandsCommand) and command.knows(first_word(line)):
            command.asked = first_word(line)
        call_command(command, *line, stdout=out, stderr=err)
        self.stdout, self.stderr = out.getvalue(), err.getvalue()


def run_json(*arguments: object) -> Any:  # noqa: ANN401 (any document)
    """Return the document that a command writes for scripts."""
    return json.loads(Ran(*arguments, "--json").stdout)


def refusal(*arguments: object, code: int = 1) -> str:
    """Return the sentence with which a command refuses."""
    with pytest.raises(CommandError) as caught:
        Ran(*arguments)
    assert caught.value.returncode == code
    return str(caught.value)
