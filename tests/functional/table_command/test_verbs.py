from pathlib import Path

import pytest

from apps.tables.management.commands.table import Command
from tests.support.processes.installation import run

VERBS = set(Command().described())


def test_the_help_names_every_verb_with_what_it_does_and_loads_none(tmp_path: Path):
    done = run(tmp_path, "table", "--help", PYTHONPROFILEIMPORTTIME="1")

    lines = done.stdout.splitlines()
    described = {words[0] for line in lines if len(words := line.split()) > 1}
    assert "check-files" in VERBS
    assert described >= VERBS
    assert "apps.pages.command" in done.stderr
    assert "apps.tables.management.verbs." not in done.stderr
    assert "pyarrow" not in done.stderr


@pytest.mark.parametrize("line", [["exhibit", "orders"], ["--json"]])
def test_a_line_without_a_verb_is_bad_usage(tmp_path: Path, line: list[str]) -> None:
    done = run(tmp_path, "table", *line)

    assert done.returncode == 2
    assert done.stdout == ""
    assert "usage: deltaweb table VERB" in done.stderr
