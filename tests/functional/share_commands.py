"""Tables to share by commands, and the profiles that these write."""

import json
from pathlib import Path
from typing import Any

from apps.tables.models import Table
from tests.support.logs.delta_logs import Action, commit_bytes, metadata, protocol
from tests.support.pages.factories import new_table


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
