"""`deltaweb table` as tests run it."""

from typing import Any

from tests.functional import command_line


def run(*arguments: object) -> str:
    """Return what the command writes to stdout."""
    return command_line.Ran("table", *arguments).stdout


def run_json(*arguments: object) -> Any:  # noqa: ANN401 (any document)
    """Return the document that the command writes for scripts."""
    return command_line.run_json("table", *arguments)


def refusal(*arguments: object, code: int = 1) -> str:
    """Return the sentence with which the command refuses."""
    return command_line.refusal("table", *arguments, code=code)
