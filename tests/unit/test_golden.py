"""What users and scripts rely on is what the golden files say."""

import difflib

import pytest

from tests.golden.surfaces import FOLDER, SURFACES


@pytest.mark.parametrize("name", SURFACES)
def test_a_change_for_users_is_a_change_of_a_golden_file(name: str) -> None:
    golden = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    found = [*SURFACES[name]()]

    difference = [*difflib.unified_diff(golden, found, name, "now", n=0, lineterm="")]
    assert difference == [], (
        "If this is intended, run 'python -m tests.golden' and say it in CHANGELOG."
    )


def test_every_golden_file_is_made_by_a_function() -> None:
    assert {path.name for path in FOLDER.glob("*.txt")} == {*SURFACES}
