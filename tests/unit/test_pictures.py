"""Pictures of the manual: each is taken by `make pictures`, and shown somewhere."""

import re
from itertools import product
from pathlib import Path

import pytest

from tests.pictures import FOLDER, PICTURES, THEMES, sample_lake
from tests.support.processes.installation import ROOT

SHOWN = re.compile(r"!\[(?P<what>[^]]+)\]\(\S*pictures/(?P<name>[a-z-]+)-light\.webp\)")
MOST_BYTES = 120_000
NAMES = {picture.name for picture in PICTURES}


def test_every_picture_is_shown_and_every_one_that_is_shown_is_taken() -> None:
    pages = (ROOT / "README.md", *(ROOT / "docs" / "manual").rglob("*.md"))
    shown = {
        found["name"] for page in pages for found in SHOWN.finditer(page.read_text())
    }

    assert shown == NAMES


def test_the_folder_has_what_is_taken_and_nothing_else() -> None:
    files = {path.name for path in FOLDER.iterdir()}

    assert files == {f"{name}-{theme}.webp" for name, theme in product(NAMES, THEMES)}


def test_each_picture_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in FOLDER.iterdir()}

    assert {name: size for name, size in sizes.items() if size >= MOST_BYTES} == {}


class TestTheLakeOfThePictures:
    def test_it_has_the_samples_and_is_gone_afterwards(self, tmp_path: Path) -> None:
        lake = tmp_path / "data" / "lake"

        with sample_lake(lake) as tables:
            assert ("samples.orders", lake / "orders") in tables
            assert (lake / "orders" / "_delta_log").is_dir()

        assert not (tmp_path / "data").exists()

    def test_an_empty_folder_of_the_user_stays(self, tmp_path: Path) -> None:
        with sample_lake(tmp_path):
            pass

        assert [*tmp_path.iterdir()] == []

    def test_tables_of_others_are_never_touched(self, tmp_path: Path) -> None:
        theirs = tmp_path / "orders"
        theirs.mkdir()

        with pytest.raises(SystemExit, match="is not empty"), sample_lake(tmp_path):
            pass

        assert theirs.is_dir()

    def test_a_folder_that_cannot_be_made_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "data").touch()
        lake = tmp_path / "data" / "lake"

        with pytest.raises(SystemExit, match=f"{lake}, which cannot be made"):
            sample_lake(lake).__enter__()
