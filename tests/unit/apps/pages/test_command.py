import io
import json
import sys
from typing import Any

import pytest
from django.core.management.base import CommandError

from apps.pages.command import YES, Output, SubcommandsCommand, subcommand
from apps.pages.errors import PageError
from deltaweb.delta.errors import VersionNotFoundError
from tests.functional.command_line import Terminal
from tests.support import cases

HOSTILE = "pear\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e\ttart\u00a0🍐"


class Fruit(SubcommandsCommand):
    help = "A command for tests."

    @subcommand("show", "show it")
    def show(self) -> Output:
        self.warn("It is ripe.")
        return Output(text="an apple", lines=["red", "round"], data={"fruit": "apple"})

    @subcommand("fail", "fail in words")
    def fail(self) -> Output:
        raise PageError(status=404, code="no-fruit", message="None left.", hint="Buy.")

    @subcommand("miss", "miss a version")
    def miss(self) -> Output:
        raise VersionNotFoundError(root="/t", version=7, earliest=0, latest=5)

    @subcommand("name", "name it as somebody else did")
    def name(self) -> Output:
        self.warn(HOSTILE)
        return Output(text=HOSTILE, lines=[HOSTILE], data={}, failure=HOSTILE)

    @subcommand("dump", "print it for a program")
    def dump(self) -> Output:
        return Output(None, text=HOSTILE, lines=[HOSTILE], is_exact=True)

    @subcommand("lose", "lose it by its name")
    def lose(self) -> Output:
        raise PageError(status=404, code="no-fruit", message=HOSTILE)

    @subcommand("eat", "eat it", YES)
    def eat(self, *, yes: bool) -> Output:
        self.confirm("Eat it?", yes=yes)
        return Output(text="eaten", data={"eaten": True})


def run(*arguments: str) -> tuple[int, str, str]:
    """Run as from a shell and return exit code, stdout and stderr."""
    command = Fruit(stdout=io.StringIO(), stderr=io.StringIO(), no_color=True)
    out, error = command.stdout, command.stderr
    try:
        command.run_from_argv(["deltaweb", "fruit", *arguments])
    except SystemExit as end:
        code = int(end.code or 0)
    else:
        code = 0
    return code, _text(out), _text(error)


def _text(stream: Any) -> str:  # noqa: ANN401 (Django wraps the stream)
    return str(stream._out.getvalue())  # noqa: SLF001 (as above)


pytestmark = pytest.mark.django_db


def test_a_person_reads_text_and_warnings_go_to_stderr() -> None:
    code, out, error = run("show")

    assert (code, out) == (0, "an apple\nred\nround\n")
    assert "It is ripe." in error


@pytest.mark.parametrize("subcommand", ["name", "lose"])
def test_a_name_says_nothing_to_the_terminal(subcommand: str) -> None:
    _, out, error = run(subcommand)

    told = (out + error).replace("\n", "").replace("\t", "")
    assert r"pear\x1b[2J\x1b]0;owned\x07" in told
    assert "tart" in told
    assert all(ord(one) >= ord(" ") and one not in "\x9b\u202e" for one in told)


def test_data_for_programs_is_exact() -> None:
    assert run("dump") == (0, f"{HOSTILE}\n{HOSTILE}\n", "")


@cases(
    "arguments",
    {"after the subcommand": ("show", "--json"), "before it": ("--json", "show")},
)
def test_json_is_one_document_and_nothing_else(arguments: tuple[str, ...]) -> None:
    code, out, _ = run(*arguments)

    assert code == 0
    assert json.loads(out) == {"fruit": "apple"}


@pytest.mark.parametrize("subcommand", ["fail", "miss"])
def test_a_domain_error_is_one_sentence_and_exit_1(subcommand: str) -> None:
    code, out, error = run(subcommand)

    assert (code, out) == (1, "")
    assert len(error.strip().splitlines()) == 1


def test_a_domain_error_is_json_too() -> None:
    code, out, _ = run("fail", "--json")

    assert code == 1
    assert json.loads(out) == {
        "error": "no-fruit",
        "message": "None left.",
        "hint": "Buy.",
    }


@cases(
    "arguments",
    {
        "no subcommand": (),
        "an unknown subcommand": ("peel",),
        "an unknown option": ("show", "--loud"),
    },
)
def test_bad_usage_is_exit_2(arguments, capsys):
    assert run(*arguments)[0] == 2
    assert "usage:" in capsys.readouterr().err


def test_an_unknown_subcommand_is_told_the_nearest(capsys: pytest.CaptureFixture[str]):
    assert run("shows")[0] == 2
    assert "Did you mean 'show'?" in capsys.readouterr().err


def test_a_line_without_a_subcommand_lists_them(capsys: pytest.CaptureFixture[str]):
    assert run("--json")[0] == 2
    assert "miss  miss a version" in capsys.readouterr().err


class TestConfirm:
    @cases(
        "typed, expected",
        {
            "yes": ("yes\n", 0),
            "y": ("Y\n", 0),
            "nothing": ("\n", 1),
            "the end": ("", 1),
        },
    )
    def test_asks_before_it_destroys(self, typed, expected, monkeypatch):
        monkeypatch.setattr(sys, "stdin", Terminal(typed))

        code, out, error = run("eat")

        assert code == expected
        assert "Eat it?" in error
        assert "Eat it?" not in out

    def test_a_pipe_is_no_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What stands in it is there for something else: the list of a loop."""
        piped = io.StringIO("yes\n")
        monkeypatch.setattr(sys, "stdin", piped)

        code, out, error = run("eat")
        told = json.loads(run("eat", "--json")[1])

        assert (code, out) == (2, "")
        assert len(error.strip().splitlines()) == 1
        assert "Pass --yes" in error
        assert told["error"] == "not-asked"
        assert piped.read() == "yes\n"

    def test_yes_skips_the_question(self) -> None:
        code, _, error = run("eat", "--yes")

        assert (code, error) == (0, "")


def test_called_from_code_an_error_is_raised() -> None:
    with pytest.raises(CommandError, match="None left"):
        Fruit(stdout=io.StringIO()).handle(
            handler=Fruit().fail, json=False, subcommand="fail"
        )
