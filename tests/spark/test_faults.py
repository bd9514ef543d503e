"""What happens below an index job: the log is corrupt, the disk is full."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from apps.jobs.models import Job
from apps.tables.index.refresh import REFRESH, refresh_table
from apps.tables.models import Table
from deltaweb.delta.log.paths import checkpoint_name, commit_name
from deltaweb.index.folder.file_index import open_files
from tests.support.logs.delta_logs import add, metadata, protocol
from tests.support.logs.local_logs import COLUMNS, LocalLog, typed_schema
from tests.support.pages.factories import NOW, new_unindexed_table

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    """A table of ten versions and a checkpoint of the fifth."""
    started = LocalLog(tmp_path).start()
    for version in range(1, 10):
        started.commit(version, add(f"part-{version}.parquet"))
    beginning = (protocol(), metadata(schemaString=typed_schema(**COLUMNS)))
    files = [add(f"part-{version}.parquet") for version in range(1, 6)]
    return started.checkpoint(5, *beginning, *files)


@pytest.fixture
def home(settings: "Settings", tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    settings.HOME.mkdir()
    return tmp_path / "home"


def index(table: Table) -> Job:
    """Run the table's index job to its end."""
    job = refresh_table(table, now=NOW)
    REFRESH.work(job.id)
    job.refresh_from_db()
    table.refresh_from_db()
    return job


def files_of(home: Path, table: Table) -> list[str]:
    """The paths in the index that pages read."""
    folder = home / "index" / str(table.id) / table.index_name
    return sorted(open_files(folder)["path"].to_pylist())


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("spark")
class TestALogThatIsCorrupt:
    @pytest.mark.parametrize(
        ("name", "lost"),
        [
            pytest.param(commit_name(8), range(0), id="a commit"),
            pytest.param(checkpoint_name(5), range(6), id="the only checkpoint"),
        ],
    )
    def test_fails_the_job_by_the_name_of_the_file_and_keeps_the_last_good_index(
        self, log: LocalLog, home: Path, name: str, lost: range
    ) -> None:
        table = new_unindexed_table("orders", location=log.location)
        assert index(table).state == "DONE"
        before = (table.version, table.index_name, files_of(home, table))

        (log.log / name).write_bytes(b"{torn")
        for version in lost:
            (log.log / commit_name(version)).unlink()
        log.commit(9, add("another.parquet"))  # so all of the log is read again
        log.commit(10, add("part-10.parquet"))
        job = index(table)

        assert job.state == "FAILED"
        assert name in job.error
        assert job.error_hint
        assert (table.version, table.index_name, files_of(home, table)) == before
        assert table.error == job.error

    def test_is_indexed_again_once_it_is_whole(self, log: LocalLog, home: Path) -> None:
        table = new_unindexed_table("orders", location=log.location)
        index(table)
        (log.log / commit_name(10)).write_bytes(b"{torn")
        log.commit(11, add("part-11.parquet"))
        assert index(table).state == "FAILED"

        log.commit(10, add("part-10.parquet"))

        assert index(table).state == "DONE"
        assert (table.version, table.error) == (11, "")
        assert "part-10.parquet" in files_of(home, table)


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """A disk of eight MiB for the indexes."""
    folder = home / "index"
    folder.mkdir()
    disk = ["mount", "-t", "tmpfs", "-o", "size=8m", "deltaweb-test", str(folder)]
    if shutil.which("mount") is None or subprocess.run(disk, check=False).returncode:
        pytest.skip("a disk of eight MiB can be made by root alone")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("spark")
class TestADiskThatIsFull:
    def test_ends_the_job_in_one_sentence_and_leaves_nothing_half_written(
        self, log: LocalLog, home: Path, small_disk: Path
    ) -> None:
        table = new_unindexed_table("orders", location=log.location)
        assert index(table).state == "DONE"
        before = (table.version, table.index_name, files_of(home, table))
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * 4096):
                pass
        log.commit(10, add("part-10.parquet"))

        job = index(table)

        assert (job.state, job.error_code) == ("FAILED", "storage-full")
        assert "No space left" in job.error
        assert (table.version, table.index_name, files_of(home, table)) == before
        folder = small_disk / str(table.id)
        assert [place.name for place in folder.iterdir()] == [table.index_name]

        filler.unlink()
        assert index(table).state == "DONE"
        assert (table.version, table.error) == (10, "")
