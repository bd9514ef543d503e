"""Commands about shares as tests run them, and tables to share."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.tables.models import Table
from tests.delta_logs import Action, commit_bytes, metadata, protocol
from tests.factories import new_table


class Ran:
    """What a command wrote."""

    def __init__(self, *arguments: object) -> None:
        out, err = io.StringIO(), io.StringIO()
        call_command(*map(str, arguments), stdout=out, stderr=err)
        self.stdout, self.stderr = out.getvalue(), err.getvalue()


def run_json(*arguments: object) -> Any:  # noqa: ANN401 (any document)
    return json.loads(Ran(*arguments, "--json").stdout)


def refusal(*arguments: object, code: int = 1) -> str:
    """Return the sentence with which a command refuses."""
    with pytest.raises(CommandError) as caught:
        Ran(*arguments)
    assert caught.value.returncode == code
    return str(caught.value)


def written_table(
    folder: Path,
    *actions: Action,
    name: str = "orders",
    **fields: Any,  # noqa: ANN401 (columns)
) -> Table:
    """A table whose log is below `folder`; by default every client reads it."""
    location = folder / name
    log = location / "_delta_log"
    log.mkdir(parents=True)
    first = commit_bytes(*(actions or (protocol(), metadata())))
    (log / f"{0:020}.json").write_bytes(first)
    return new_table(name, location=str(location), **fields)


def profile_of(path: Path) -> Any:  # noqa: ANN401 (a document)
    return json.loads(path.read_text())
