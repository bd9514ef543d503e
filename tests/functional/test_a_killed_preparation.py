"""A real `share prepare` that is killed: it serves nothing, and the next is whole."""

import json
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from tests.functional.sharing_api.ruled import new_staff, rows
from tests.support.processes.installation import manage, migrate, run

pytestmark = pytest.mark.timeout(600)

LONG_AGO_S: Final = 1_000_000_000
SHARED: Final = """
from django.utils import timezone
from deltaweb.web.pages.actions import COMMAND_LINE
from deltaweb.web.sharing.models import SharedTable
from deltaweb.web.sharing.shares.services import add_table, create_share
from deltaweb.web.tables.catalogue.registration import register_table
facts = {{"actor": COMMAND_LINE, "now": timezone.now()}}
table = register_table(name="hr.staff", location={place!r}, **facts)
share = create_share(name="parts", **facts)
add_table(share, table=table, schema="hr", name="staff", **facts)
SharedTable.objects.update(condition="region = recipient.region")
"""
KILLED: Final = """
import os, signal, sys
from django.core.management import call_command
seen = 0
def count(event, arguments):
    global seen
    if event == {event!r} and {folder!r} in str(arguments[0]):
        seen += 1
        if seen == {nth}:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
call_command("share", "prepare", "parts")
"""


@dataclass(frozen=True)
class Provider:
    """An installation that shares a table whose two last files are to be rewritten."""

    home: Path

    @property
    def files(self) -> list[Path]:
        """All that lies where rewritten files do."""
        return [one for one in (self.home / "prepared").rglob("*") if one.is_file()]

    @property
    def named(self) -> list[Path]:
        """The files among them that have their names."""
        return [one for one in self.files if one.suffix == ".parquet"]

    def command(self, *arguments: str) -> Any:  # noqa: ANN401 (any document)
        """The document that a command writes for scripts."""
        done = run(self.home, *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def shell(self, script: str) -> int:
        """Run a script in a process of its own; return how that ended."""
        return manage(
            self.home, "shell", "--verbosity", "0", "--command", script
        ).returncode

    def queried(self) -> list[int]:
        """The statuses of a recipient's queries for files."""
        seen = self.command("recipient", "see", "acme", "--share", "parts")
        return [
            answer["status"]
            for table in seen["tables"]
            for answer in table["answers"]
            if answer["request"].startswith("POST")
        ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Provider:
    """An installation of which tests have copies; where its table lies, none writes."""
    made = Provider(tmp_path_factory.mktemp("made"))
    migrate(made.home)
    place = tmp_path_factory.mktemp("tables") / "staff"
    table = new_staff(place)
    table.append(pa.concat_tables([rows(20, 2, "EU"), rows(22, 2, "US", "secret")]))
    assert made.shell(SHARED.format(place=str(place))) == 0
    acme = ("acme", "--share", "parts", "--property", "region=EU")
    made.command("recipient", "create", *acme)
    return made


@pytest.fixture
def provider(made: Provider, tmp_path: Path) -> Provider:
    return Provider(shutil.copytree(made.home, tmp_path / "home"))


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
    folder = str(provider.home / "prepared")

    ended = provider.shell(KILLED.format(event=event, nth=nth, folder=folder))

    assert ended == -signal.SIGKILL
    assert len(provider.named) == 1
    assert set(provider.queried()) == {409}
    left = set(provider.files) - set(provider.named)
    assert bool(left) == (event == "os.rename")

    (prepared,) = provider.command("share", "prepare", "parts", "--prove")
    assert (prepared["num_made"], prepared["rewritten"]) == (num_made, 2)
    assert prepared["rows_outside"] == 0
    assert set(provider.queried()) == {200}

    for file in left:
        assert file.exists()  # its writer might be at it still
        os.utime(file, (LONG_AGO_S, LONG_AGO_S))
    if left:
        provider.command("share", "prepare", "parts")
    assert set(provider.files) == set(provider.named)
    assert len(provider.named) == 2
