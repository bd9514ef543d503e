"""`deltaweb` has its own commands; `manage.py` has Django's, too."""

import subprocess
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from django.core.management import load_command_class

from deltaweb.environment.command_lines import COMMANDS
from deltaweb.version import VERSION
from tests.functional.command_line import Ran, refusal
from tests.support.processes.installation import manage, run

HOLDERS = (
    "deltaweb",
    "apps.tables",
    "apps.sharing",
    "apps.accounts",
    "apps.notices",
    "apps.operate",
)


def _names_of(holder: str) -> list[str]:
    folder = import_module(f"{holder}.management.commands").__path__
    return [module.name for module in iter_modules(folder)]


def _found() -> dict[str, str]:
    """Every command in the tree, with its own sentence."""
    return {
        name: str(load_command_class(holder, name).help)
        for holder in HOLDERS
        for name in _names_of(holder)
    }


def test_the_list_has_every_command_of_the_tree_with_its_own_sentence() -> None:
    assert _found() == COMMANDS


@pytest.mark.parametrize("line", [["--help"], ["help"]], ids=lambda line: line[0])
def test_help_lists_them_and_none_of_django(tmp_path: Path, line: list[str]) -> None:
    done = run(tmp_path, *line)

    assert done.returncode == 0, done.stderr
    words = [text.split()[0] for text in done.stdout.splitlines() if text[:2] == "  "]
    assert words == [*COMMANDS]


def test_the_name_alone_shows_what_to_do_first(tmp_path: Path) -> None:
    done = run(tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "deltaweb serve /data/lake" in done.stdout
    assert COMMANDS["table"] in done.stdout
    assert "Exit codes: 0 done; 1 refused" in done.stdout


@pytest.mark.parametrize(
    "line",
    [["--version"], ["version"], ["table", "--version"]],
    ids=" ".join,
)
def test_the_version_is_that_of_deltaweb(tmp_path: Path, line: list[str]) -> None:
    assert run(tmp_path, *line).stdout == f"deltaweb {VERSION}\n"
    if len(line) > 1:
        assert manage(tmp_path, *line).stdout == f"deltaweb {VERSION}\n"


def test_a_command_of_django_is_refused_and_named(tmp_path: Path) -> None:
    refused = run(tmp_path, "flush", "--noinput")
    known = manage(tmp_path, "flush", "--help")

    assert (refused.returncode, refused.stdout) == (2, "")
    assert "'flush' is a command of Django's" in refused.stderr
    assert "manage.py runs it" in refused.stderr
    assert "deltaweb --help" in refused.stderr
    assert known.returncode == 0, known.stderr


def test_a_near_miss_names_the_nearest(tmp_path: Path) -> None:
    command, verb = run(tmp_path, "tables"), run(tmp_path, "table", "deletes", "t")

    assert (command.returncode, verb.returncode) == (2, 2)
    assert "Did you mean 'table'?" in command.stderr
    assert "Did you mean 'delete'?" in verb.stderr


@pytest.mark.django_db
def test_a_name_that_is_nearly_right_is_named() -> None:
    Ran("user", "add", "ana", "--role", "viewer")
    Ran("share", "create", "retail")

    assert "Did you mean 'ana'?" in refusal("user", "link", "anna")
    assert "Did you mean 'retail'?" in refusal("share", "show", "retal")


def test_an_option_that_is_nearly_right_is_named(tmp_path: Path) -> None:
    option = run(tmp_path, "table", "rows", "t", "--limt", "5")

    assert option.returncode == 2
    assert "Did you mean '--limit'?" in option.stderr


@pytest.fixture(scope="module")
def script() -> str:
    """What `deltaweb completion bash` prints."""
    return Ran("completion", "bash").stdout


class TestCompletion:
    """What a shell does with the script is tried by bash, which every machine has."""

    @pytest.mark.parametrize(
        ("words", "found"),
        [
            ("deltaweb comp", "completion"),
            ("deltaweb table sho", "show"),
            ("deltaweb table show --ti", "--timestamp --time-zone"),
            ("deltaweb recipient rot", "rotate"),
        ],
    )
    def test_completes_commands_verbs_and_options(self, script, words, found):
        asked = (
            f"COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ));"
            ' _shtab_deltaweb; echo "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "-c", f"{script}\n{asked}"],
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.stdout.split() == found.split()

    @pytest.mark.parametrize("shell", ["zsh", "fish"])
    def test_is_there_for_others(self, shell: str) -> None:
        assert "widen-column" in Ran("completion", shell).stdout


def test_a_command_is_known_whatever_its_settings_are(tmp_path: Path) -> None:
    done = run(tmp_path, "flush", DELTAWEB_PRODUCTION="true")

    assert done.returncode == 2
    assert "'flush' is not a command of deltaweb" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_lists_what_django_adds(name: str) -> None:
    (holder,) = (one for one in HOLDERS if name in _names_of(one))
    command = load_command_class(holder, name)

    said = command.create_parser("deltaweb", name).format_help()

    assert "--pythonpath" not in said
    assert "--traceback" not in said


def test_the_help_of_a_group_has_none_of_django_s_options(tmp_path: Path) -> None:
    said = run(tmp_path, "table", "show", "--help").stdout

    assert "--timestamp" in said
    assert "--pythonpath" not in run(tmp_path, "table", "--help").stdout
