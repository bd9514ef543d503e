"""A real `share prepare` that is killed: it serves nothing, and the next is whole."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.functional.killed_commands import READ_IDS, SHARE_PARTS, SHARE_PLAIN
from tests.functional.sharing_api.ruled import new_staff, rows
from tests.support.processes.installation import environment, migrate
from tests.support.processes.workers import Workers

pytestmark = pytest.mark.timeout(600)

LONG_AGO_S: Final = 1_000_000_000


@dataclass(frozen=True)
class Provider:
    """An installation that shares a table whose two last files are to be rewritten.

    Attributes:
        commands: What runs its commands.
        share: The share, whose recipient has its name.
        before: What lay where rewritten files do before.
    """

    commands: Workers
    share: str
    before: frozenset[Path]

    @property
    def files(self) -> set[Path]:
        """All that lies where rewritten files do."""
        return {*files_below(self.commands.log.parent)} - self.before

    @property
    def named(self) -> set[Path]:
        """The files among them that have their names."""
        return {one for one in self.files if one.suffix == ".parquet"}

    def killed_at(self, event: str, nth: int) -> int:
        """Prepare up to an event; return how the process ended."""
        folder = self.commands.log.with_name("prepared")
        command = ("share", "prepare", self.share)
        return self.commands.start(event, nth, folder, *command).wait()

    def prepare(self, *options: str) -> Any:  # noqa: ANN401 (any document)
        """Prepare; return what is said of the table."""
        (prepared,) = self.commands.ask("share", "prepare", self.share, *options)
        return prepared

    def queried(self) -> set[int]:
        """The statuses of a recipient's queries for files."""
        seen = self.commands.ask("recipient", "see", self.share, "--share", self.share)
        return {
            answer["status"]
            for table in seen["tables"]
            for answer in table["answers"]
            if answer["request"].startswith("POST")
        }


def files_below(home: Path) -> Iterator[Path]:
    return (one for one in (home / "prepared").rglob("*") if one.is_file())


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    home = tmp_path_factory.mktemp("home")
    migrate(home)
    started = Workers(
        environment(home), home / "commands.log", "tests.functional.killed_commands"
    )
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def provider(commands: Workers, tmp_path: Path) -> Provider:
    table = new_staff(tmp_path / "staff")
    table.append(pa.concat_tables([rows(20, 2, "EU"), rows(22, 2, "US", "secret")]))
    share = f"parts{len(commands.processes)}"
    commands.ask(SHARE_PARTS, share, tmp_path / "staff")
    options = ("--share", share, "--property", "region=EU")
    commands.ask("recipient", "create", share, *options)
    return Provider(commands, share, frozenset(files_below(commands.log.parent)))


NUM_FILES: Final = 11
POINTS: Final = 20


@pytest.fixture
def plain(commands: Workers, tmp_path: Path) -> tuple[Provider, DeltaTable]:
    """A provider of a table as plain files, and the table: each file has a vector."""
    vectors = {"delta.enableDeletionVectors": "true"}
    table = new_staff(tmp_path / "staff", properties=vectors)
    for number in range(3, NUM_FILES):
        table.append(rows(5 * number, 5, "EU"))
    table.delete("id % 5 = 0")
    share = f"plain{len(commands.processes)}"
    commands.ask(SHARE_PLAIN, share, tmp_path / "staff")
    commands.ask("recipient", "create", share, "--share", share)
    return Provider(commands, share, frozenset(files_below(commands.log.parent))), table


def test_a_preparation_killed_at_twenty_points_never_mixes_versions(
    plain: tuple[Provider, DeltaTable],
) -> None:
    provider, table = plain

    def ids() -> list[int]:
        return sorted(table.snapshot().read()["id"].to_pylist())

    def read() -> tuple[int, list[int]]:
        version, found = provider.commands.ask(READ_IDS, provider.share)
        return version, found

    assert provider.prepare()["num_made"] == NUM_FILES
    before, known = table.latest_version(), ids()
    table.delete("id % 5 = 1")
    for point in range(POINTS):
        # One run of four makes a file before it is killed.
        event = "os.rename" if point % 2 else "open"
        assert provider.killed_at(event, 1 + point % 4 // 2) == -signal.SIGKILL
        assert read() == (before, known)

    assert provider.prepare()["signed"] == 0
    assert read() == (table.latest_version(), ids())
    assert ids() != known


@pytest.mark.parametrize(
    ("event", "nth", "num_made"),
    [
        pytest.param("open", 2, 2, id="before the first file is known"),
        pytest.param("os.rename", 2, 1, id="before the second file has its name"),
    ],
)
def test_a_killed_preparation_serves_nothing_and_the_next_is_whole(
    provider: Provider, event: str, nth: int, num_made: int
) -> None:
    assert provider.killed_at(event, nth) == -signal.SIGKILL
    assert len(provider.named) == 1
    assert provider.queried() == {409}
    left = provider.files - provider.named
    assert bool(left) == (event == "os.rename")

    prepared = provider.prepare("--prove")
    assert (prepared["num_made"], prepared["rewritten"]) == (num_made, 2)
    assert prepared["rows_outside"] == 0
    assert provider.queried() == {200}

    for file in left:
        assert file.exists()  # its writer might be at it still
        os.utime(file, (LONG_AGO_S, LONG_AGO_S))
    provider.prepare()
    assert provider.files == provider.named
    assert len(provider.named) == 2
