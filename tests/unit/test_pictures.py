"""Pictures of the manual: each is taken by `make pictures`, and shown somewhere."""

import re
from itertools import product

from tests.pictures import FOLDER, PICTURES, THEMES
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
