"""Pipes by which processes wake each other."""

import errno
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deltaweb.environment.named_pipes import PART_BYTES, PipeReader, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pipes"


@pytest.fixture
def reader(folder: Path) -> Iterator[PipeReader]:
    with closing(PipeReader(folder)) as reader:
        reader.open("news")
        yield reader


def number_of_open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


class TestAReader:
    def test_hears_what_is_written_for_one_of_its_kinds(self, reader, folder):
        reader.open("jobs")
        for kind in ("jobs", "news", "new", "jobs.spark", ""):
            write(folder, kind, [kind.encode() + b"\n"])

        assert sorted(reader.wait(60).split()) == [b"jobs", b"news"]
        assert reader.wait(0) == b""

    def test_has_one_pipe_of_a_kind(self, reader: PipeReader, folder: Path) -> None:
        reader.open("news")

        assert len(list(folder.iterdir())) == 1

    def test_is_woken_by_another_thread_of_its_own(self, reader: PipeReader) -> None:
        reader.wake()

        assert reader.wait(60)

    def test_that_is_woken_often_holds_up_nobody(self, reader: PipeReader) -> None:
        for _ in range(1 << 17):
            reader.wake()

        assert reader.wait(60)

    def test_leaves_nothing_behind(self, folder: Path) -> None:
        before = number_of_open_files()
        with closing(PipeReader(folder)) as reader:
            reader.open("news")
            reader.open("jobs")

        assert list(folder.iterdir()) == []
        assert number_of_open_files() == before
        reader.wake()
        write(folder, "news", [b"x"])

    @pytest.mark.parametrize("step", [(os, "mkfifo"), (os, "open"), (Path, "rename")])
    def test_that_cannot_be_made_leaves_nothing_behind(self, folder, monkeypatch, step):
        def refuse(*_: object) -> None:
            raise OSError(errno.EMFILE, "Too many open files")

        before = number_of_open_files()
        with monkeypatch.context() as patch:
            patch.setattr(*step, refuse)
            with pytest.raises(OSError, match="Too many"):
                PipeReader(folder).open("news")

        assert list(folder.iterdir()) == []
        assert number_of_open_files() == before


class TestAPipe:
    def test_that_nobody_reads_any_more_is_removed(self, folder: Path) -> None:
        folder.mkdir()
        os.mkfifo(folder / "news.of-a-killed-process")

        write(folder, "news", [b"x"])

        assert list(folder.iterdir()) == []

    def test_stays_where_the_writer_cannot_open_it(self, reader, folder, monkeypatch):
        """A process that has too many files open takes nobody's pipe away."""

        def refuse(*_: object) -> None:
            raise OSError(errno.EMFILE, "Too many open files")

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", refuse)
            write(folder, "news", [b"x"])

        reader.check()

    @pytest.mark.usefixtures("reader")
    def test_that_is_full_is_passed_over(self, folder: Path) -> None:
        with closing(PipeReader(folder)) as awake:
            awake.open("news")
            for _ in range(100):
                write(folder, "news", [b"x" * PART_BYTES])

                assert len(awake.wait(60)) == PART_BYTES

    def test_that_was_removed_is_found_out(self, reader: PipeReader, folder: Path):
        reader.check()
        for path in folder.iterdir():
            path.unlink()

        with pytest.raises(FileNotFoundError):
            reader.check()
