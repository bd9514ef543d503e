"""A seal tells whether files of an index are what was written."""

from pathlib import Path

import pytest

from deltaweb.index.index_seal import (
    READ_BYTES,
    SEAL,
    IndexSeal,
    SealBrokenError,
    carry_mark,
    load_seal,
    mark_file,
    write_seal,
)

LONG = bytes(range(256)) * (READ_BYTES // 128)  # read in several pieces


def sealed(folder: Path) -> IndexSeal:
    folder.mkdir(exist_ok=True)
    (folder / "a").write_bytes(LONG)
    (folder / "b").write_bytes(b"")
    write_seal(folder)
    seal = load_seal(folder)
    assert seal is not None
    return seal


def test_a_file_may_be_marked_while_others_are_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(LONG)

    mark_file(tmp_path, "a")
    (tmp_path / "a").write_bytes(b"spoilt since")
    (tmp_path / "b").write_bytes(b"late")
    write_seal(tmp_path)

    seal = load_seal(tmp_path)
    assert seal is not None
    seal.check("b")
    assert seal.marks["a"][0] == len(LONG)
    with pytest.raises(SealBrokenError):
        seal.check("a")


class TestCheck:
    def test_is_silent_where_nothing_has_changed(self, tmp_path: Path) -> None:
        seal = sealed(tmp_path)

        seal.check("a", "b")

        assert set(seal.marks) == {"a", "b"}

    @pytest.mark.parametrize(
        "changed",
        [
            pytest.param(b"", id="empty"),
            pytest.param(LONG[:-1], id="cut"),
            pytest.param(LONG + b"x", id="longer"),
            pytest.param(LONG[:-1] + b"x", id="another last byte"),
            pytest.param(b"x" + LONG[1:], id="another first byte"),
        ],
    )
    def test_tells_of_a_file_that_is_another(
        self, tmp_path: Path, changed: bytes
    ) -> None:
        seal = sealed(tmp_path)
        (tmp_path / "a").write_bytes(changed)

        with pytest.raises(SealBrokenError):
            seal.check("b", "a")

    @pytest.mark.parametrize("name", ["a", "unknown"])
    def test_tells_of_a_file_that_is_gone(self, tmp_path: Path, name: str) -> None:
        seal = sealed(tmp_path)
        (tmp_path / name).unlink(missing_ok=True)

        with pytest.raises(SealBrokenError):
            seal.check(name)


class TestLoadSeal:
    def test_is_none_where_there_is_none(self, tmp_path: Path) -> None:
        assert load_seal(tmp_path) is None

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", "7", '{"a": 7}', '{"a": ["x", 1]}']
    )
    def test_has_no_mark_where_it_is_spoilt(self, tmp_path: Path, text: str) -> None:
        sealed(tmp_path)
        (tmp_path / SEAL).write_text(text)

        assert load_seal(tmp_path) == IndexSeal(tmp_path, {})


class TestCarryMark:
    def test_keeps_what_was_known_of_a_file(self, tmp_path: Path) -> None:
        old = sealed(tmp_path / "old")
        new = tmp_path / "new"
        new.mkdir()
        (new / "a").write_bytes(b"spoilt since")

        carry_mark(new, "a", tmp_path / "old")
        (new / "c").write_bytes(b"another")
        write_seal(new)

        seal = load_seal(new)
        assert seal is not None
        assert seal.marks["a"] == old.marks["a"]
        seal.check("c")
        with pytest.raises(SealBrokenError):
            seal.check("a")

    def test_carries_none_from_a_folder_without(self, tmp_path: Path) -> None:
        carry_mark(tmp_path, "a", tmp_path / "old")

        assert load_seal(tmp_path) is None
