"""A home with rows in each model, its backup, and a server for another engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.backups.documents import WORDS, new_home
from tests.support.processes.installation import run
from tests.support.processes.postgresql import running_postgresql
from tests.support.processes.recorded_databases import (
    RELEASES,
    VARIABLES,
    unpack_sqlite,
)


@pytest.fixture(scope="package")
def server() -> Iterator[str]:
    with running_postgresql() as server:
        yield server


@pytest.fixture(scope="package")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = new_home(tmp_path_factory.mktemp("source") / "home")
    unpack_sqlite(RELEASES[-1], home)
    done = run(home, "migrate", "--verbosity", "0", **VARIABLES)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture(scope="package")
def backup(source: Path) -> Path:
    file = source.parent / "all.backup"
    done = run(source, "backup", str(file), **VARIABLES, **WORDS)
    assert done.returncode == 0, done.stderr
    assert "It holds every secret" in done.stdout
    return file
