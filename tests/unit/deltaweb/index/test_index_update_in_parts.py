"""An index keeps the parts of the one before, as far as they are what was written."""

import json
import shutil
from pathlib import Path

import pytest

from deltaweb.index.build.full import index_table
from deltaweb.index.folder.file_index import COMMITS, FILES
from deltaweb.index.folder.manifest import MANIFEST
from deltaweb.index.folder.parts import part_names
from tests.support import by_turns
from tests.support.index.index_folders import contents
from tests.support.logs.delta_logs import remove
from tests.support.logs.indexed_logs import Indexed, file_of

pytestmark = [pytest.mark.usefixtures("small_parts"), pytest.mark.slow]


@pytest.fixture(scope="module")
def grown_once(small_parts: None, tmp_path_factory: pytest.TempPathFactory) -> Indexed:  # noqa: ARG001 (how it is indexed)
    """A table of six commits, indexed after each: eight files came first."""
    table = Indexed(tmp_path_factory.mktemp("grown"))
    table.index()
    for number in range(5):
        table.commit(file_of(f"new-{number}", number)).index()
    return table


@pytest.fixture
def grown(grown_once: Indexed, tmp_path: Path) -> Indexed:
    """That table, for a test to change."""
    return grown_once.copied_to(tmp_path)


def kept_parts(indexed: Indexed, name: str) -> list[Path]:
    """The parts that an index of one more commit shares with the one before."""
    before = folder_of(indexed)
    indexed.index()
    after = folder_of(indexed)
    assert indexed.has_gone_on
    indexed.assert_is_what_the_log_gives()
    return [
        before / old
        for old in part_names(before, name)
        if any((before / old).samefile(after / new) for new in part_names(after, name))
    ]


def folder_of(indexed: Indexed) -> Path:
    assert indexed.folder is not None
    return indexed.folder


class TestWhatIsKept:
    def test_is_all_of_the_history_but_its_end(self, grown: Indexed) -> None:
        grown.commit(file_of("one", 1))

        assert len(kept_parts(grown, COMMITS)) >= 2

    def test_is_each_part_of_which_no_file_went(self, grown: Indexed) -> None:
        names = part_names(folder_of(grown), FILES)
        grown.commit(remove("p=4/4"))

        assert len(kept_parts(grown, FILES)) == len(names) - 2  # its end, too

    def test_is_all_where_nothing_is_new(self, grown: Indexed) -> None:
        names = part_names(folder_of(grown), COMMITS)

        assert len(kept_parts(grown, COMMITS)) == len(names)

    def test_outlives_an_index_that_is_removed(self, grown: Indexed) -> None:
        before = folder_of(grown)
        grown.commit(file_of("one", 1)).index()
        shutil.rmtree(before)
        grown.commit(file_of("two", 2)).index()

        assert grown.has_gone_on
        grown.assert_is_what_the_log_gives()

    def test_is_nothing_of_an_index_that_somebody_removes_meanwhile(
        self, grown: Indexed, tmp_path: Path
    ) -> None:
        grown.commit(file_of("one", 1))
        before = folder_of(grown)

        def report(step: str, *_: object) -> None:
            if step == "Writing the files":  # another worker has stored its own
                shutil.rmtree(before, ignore_errors=True)

        index_table(
            grown.log.table,
            tmp_path / "raced",
            now_ms=grown.now_ms,
            base=before,
            on_progress=report,
        )

        grown.folder = tmp_path / "raced"
        grown.assert_is_what_the_log_gives()

    def test_is_the_same_for_two_that_go_on_from_one_index(self, grown, tmp_path):
        grown.commit(file_of("one", 1))
        names = ["left", "right"]

        def index_the_other(step: str, *_: object) -> None:
            if step == "Writing the index" and names:
                make(names.pop())

        def make(name: str) -> None:
            index_table(
                grown.log.table,
                tmp_path / name,
                now_ms=grown.now_ms,
                base=grown.folder,
                on_progress=index_the_other,
            )

        make(names.pop())

        assert contents(tmp_path / "left") == contents(tmp_path / "right")
        grown.folder = tmp_path / "left"
        grown.assert_is_what_the_log_gives()

    def test_is_read_of_an_index_of_before_there_were_parts(self, indexed, monkeypatch):
        with monkeypatch.context() as before:
            before.setattr("deltaweb.index.folder.parts.PART_ROWS", 1_000)
            indexed.folder = None
            indexed.commit(file_of("a", 1)).index()
        manifest = folder_of(indexed) / MANIFEST
        sizes = {k: v[:2] for k, v in json.loads(manifest.read_text()).items()}
        manifest.write_text(json.dumps(sizes))
        assert part_names(folder_of(indexed), FILES) == [FILES]
        indexed.commit(file_of("b", 2))

        assert kept_parts(indexed, FILES)


def _cut(part: Path, _another: Path) -> None:
    part.write_bytes(part.read_bytes()[:-20])


def _empty(part: Path, _another: Path) -> None:
    part.write_bytes(b"")


def _zero(part: Path, _another: Path) -> None:
    """Leave what a machine leaves that goes down before the disk has the bytes."""
    part.write_bytes(bytes(part.stat().st_size))


def _lose(part: Path, _another: Path) -> None:
    part.unlink()


def _swap(part: Path, another: Path) -> None:
    part.write_bytes(another.read_bytes())


SPOILED = {"cut": _cut, "empty": _empty, "zero": _zero, "gone": _lose, "swap": _swap}


@by_turns({"spoil": SPOILED, "name": [COMMITS, FILES], "at": [0, 1, -1]})
def test_a_part_that_is_not_what_was_written_is_never_kept(grown, spoil, name, at):
    folder = folder_of(grown)
    names = part_names(folder, name)
    copied = folder / "copy"
    shutil.copyfile(folder / names[at], copied)  # links share their bytes
    copied.replace(folder / names[at])
    spoil(folder / names[at], folder / names[at - 1])
    grown.commit(file_of("more", 1))

    grown.index()

    assert not grown.has_gone_on
    grown.assert_is_what_the_log_gives()


@pytest.mark.parametrize("name", [COMMITS, FILES])
def test_a_bit_that_a_disk_forgot_of_a_kept_part_is_found_in_its_turn(grown, name):
    part = folder_of(grown) / part_names(folder_of(grown), name)[0]
    text = {FILES: b"p=1/1", COMMITS: b"Added"}[name]
    before = part.read_bytes()
    part.write_bytes(before.replace(text, text.swapcase()))  # in all that share it
    assert part.read_bytes() != before

    went_on = []
    for number in range(len(part_names(folder_of(grown), name))):
        grown.commit(file_of(f"more-{number}", number)).index()
        went_on.append(grown.has_gone_on)

    assert False in went_on
    grown.assert_is_what_the_log_gives()
