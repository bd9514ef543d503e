"""Builders of checkpoints that are killed, that meet a full disk, or each other."""

import errno
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import deltalake
import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.paths import checkpoint_part_names
from deltaweb.storage import local_pending
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import write_commit, write_json_log

NOW = datetime(2025, 1, 1, tzinfo=UTC)
COMMITS = 12
ADDS = 40

BUILDER = """
from deltaweb.environment.own_process import prepare_process
prepare_process()
import os, signal, sys
from datetime import UTC, datetime
from deltaweb.delta.writing.checkpoint import announce
from deltaweb.storage.local_pending import LocalPendingFile
from deltaweb.table import DeltaTable

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

commit = LocalPendingFile.commit
seen = []

def commit_one(file):
    if seen:
        die()
    seen.append(file)
    commit(file)

def build(folder, stage):
    if stage == "between two parts":
        LocalPendingFile.commit = commit_one
    if stage == "before the parts":
        LocalPendingFile.commit = die
    if stage == "before the hint":
        announce.write_last_checkpoint = die
    DeltaTable(folder).create_checkpoint(
        parts=3,
        now=datetime(2025, 1, 1, tzinfo=UTC),
        on_progress=die if stage == "while rows are written" else None,
    )

for folder in sys.argv[1:]:
    if not os.fork():
        build(folder, os.path.basename(folder))
        os._exit(0)
    _, status = os.wait()
    assert os.WIFSIGNALED(status), folder
"""
STAGES = [
    "while rows are written",
    "before the parts",
    "between two parts",
    "before the hint",
]
# Tries each limit in a process of its own, which has loaded what they share.
LIMITED = """
from deltaweb.environment.own_process import prepare_process
prepare_process()
import json, os, resource, sys
from deltaweb.delta.errors import DeltaError
from deltaweb.table import DeltaTable

folder, *tries = sys.argv[1:]
for limit, parts in map(json.loads, tries):
    if not os.fork():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            DeltaTable(folder).create_checkpoint(parts=parts)
        except DeltaError as error:
            left = os.listdir(f"{folder}/_delta_log")
            said = [error.code, error.message, left]
            os.write(1, f"{json.dumps(said)}\\n".encode())
        os._exit(0)
    os.wait()
"""


def new_table(folder: Path) -> Path:
    return write_json_log(folder, commits=COMMITS, adds=ADDS, removes=10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return new_table(tmp_path / "table")


def names(folder: Path) -> set[str]:
    return {path.name for path in (folder / "_delta_log").iterdir()}


def leftovers(folder: Path) -> list[str]:
    return [name for name in names(folder) if name.endswith(".tmp")]


def paths(folder: Path) -> list[str]:
    return sorted(DeltaTable(str(folder)).snapshot().files["path"].to_pylist())


@pytest.fixture(scope="module")
def all_left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables whose builders were killed, each at the stage that is its name."""
    folder = tmp_path_factory.mktemp("left")
    tables = [str(new_table(folder / stage)) for stage in STAGES]
    subprocess.run([sys.executable, "-c", BUILDER, *tables], check=True)
    return folder


@pytest.fixture(scope="module", params=STAGES)
def left(all_left: Path, request: pytest.FixtureRequest) -> Path:
    """One of them, for tests that change it no more."""
    return all_left / str(request.param)


@pytest.fixture
def killed(left: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(left, tmp_path / "killed")


class TestAKilledBuilder:
    def test_leaves_a_table_that_reads_as_before(self, killed: Path, tmp_path: Path):
        before = new_table(tmp_path / "same")

        assert paths(killed) == paths(before)
        assert "_last_checkpoint" not in names(killed)
        assert len(deltalake.DeltaTable(str(killed)).file_uris()) == len(paths(before))

    def test_gives_way_to_the_next_one(self, killed: Path) -> None:
        before = paths(killed)

        written = DeltaTable(str(killed)).create_checkpoint(parts=3, now=NOW)

        assert leftovers(killed) == []
        assert set(written.names) <= names(killed)
        assert paths(killed) == before
        assert DeltaTable(str(killed)).snapshot().state.checkpoint is not None

    def test_is_cleaned_up_after(self, killed: Path) -> None:
        before = paths(killed)

        DeltaTable(str(killed)).clean_up_log(now=NOW)

        assert leftovers(killed) == []
        assert paths(killed) == before


def test_a_builder_that_lives_keeps_its_files(folder: Path) -> None:
    store = DeltaTable(str(folder)).store
    file = store.begin_file("00000000000000000003.checkpoint.parquet")
    before = leftovers(folder)

    DeltaTable(str(folder)).create_checkpoint(now=NOW)

    assert leftovers(folder) == before
    assert len(before) == 1
    file.discard()
    assert leftovers(folder) == []


@pytest.mark.parametrize(("age_s", "is_left"), [(0, True), (7200, False)])
def test_what_is_left_of_a_hint_goes_when_it_is_old(folder, age_s, *, is_left):
    path = folder / "_delta_log" / "._last_checkpoint.abcdefgh.tmp"
    path.write_bytes(b"{")
    moment = path.stat().st_mtime - age_s
    os.utime(path, (moment, moment))

    DeltaTable(str(folder)).create_checkpoint(now=NOW)

    assert path.exists() == is_left


def test_only_names_of_ours_are_leftovers(folder: Path) -> None:
    strangers = {".hidden.tmp", ".00000000000000000001.json.abcdefgh.tmp", "x.tmp"}
    for name in strangers:
        (folder / "_delta_log" / name).write_bytes(b"")

    removed = local_pending.remove_local_leftovers(folder / "_delta_log")

    assert removed == []
    assert strangers <= names(folder)


class TestAFullDisk:
    def test_is_told_and_leaves_nothing(self, folder: Path) -> None:
        before, files = names(folder), paths(folder)
        tries = [
            json.dumps([limit, parts])
            for limit in (1, 4_000, 16_000)
            for parts in (None, 2)
        ]

        done = subprocess.run(
            [sys.executable, "-c", LIMITED, str(folder), *tries],
            capture_output=True,
            text=True,
            check=True,
        )

        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(told) == len(tries)
        for code, message, left in told:
            assert code == "storage-full"
            assert str(folder) in message
            assert set(left) == before
        assert done.stderr == ""
        assert paths(folder) == files

    def test_for_the_hint_alone_leaves_a_checkpoint_without_one(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = DeltaTable(str(folder))

        def fail_for_the_hint(handle: int) -> None:
            if "_last_checkpoint" in os.readlink(f"/proc/self/fd/{handle}"):  # noqa: PTH115  # of a handle
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail_for_the_hint)

        with pytest.raises(DeltaError) as caught:
            table.create_checkpoint(now=NOW)

        assert caught.value.code == "storage-full"
        assert leftovers(folder) == []
        assert "_last_checkpoint" not in names(folder)
        assert table.snapshot().state.checkpoint is not None


class TestAtTheSameTime:
    def test_builders_of_one_version_do_no_harm(self, folder: Path) -> None:
        before = paths(folder)

        def build(parts: int | None) -> object:
            return DeltaTable(str(folder)).create_checkpoint(parts=parts, now=NOW)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(build, [None, 3, 3, 2, None, 3]))

        assert leftovers(folder) == []
        version = COMMITS - 1
        for path in (folder / "_delta_log").glob("*.json"):
            if path.name != f"{version:020d}.json":
                path.unlink()
        assert paths(folder) == before
        single = folder / "_delta_log" / f"{version:020d}.checkpoint.parquet"
        single.unlink()
        assert paths(folder) == before
        assert set(checkpoint_part_names(version, 3)) <= names(folder)

    def test_builders_of_many_versions_leave_the_newest_in_the_hint(self, folder: Path):
        def build(version: int) -> object:
            return DeltaTable(str(folder)).create_checkpoint(version, now=NOW)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(build, [5, 11, 2, 8, 10, 9, 3]))

        hint = json.loads((folder / "_delta_log" / "_last_checkpoint").read_bytes())
        assert hint["version"] == 11

    def test_a_commit_that_arrives_meanwhile_is_no_part_of_it(self, folder: Path):
        def commit(_done: int, _total: int) -> None:
            if not (folder / "_delta_log" / f"{COMMITS:020d}.json").exists():
                write_commit(
                    folder / "_delta_log", COMMITS, first=9_000, adds=5, removed=[]
                )

        before = len(paths(folder))
        written = DeltaTable(str(folder)).create_checkpoint(on_progress=commit, now=NOW)

        assert (written.version, written.num_files) == (COMMITS - 1, before)
        assert len(paths(folder)) == before + 5
        assert DeltaTable(str(folder)).latest_version() == COMMITS
