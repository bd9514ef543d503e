from pathlib import Path

import pytest

from apps.tables.errors import ScanRootError
from apps.tables.storage.finding import find_tables
from tests.support import cases


def make_table(root: Path, path: str) -> None:
    (root / path / "_delta_log").mkdir(parents=True)


class TestFindTables:
    def test_finds_tables_at_every_depth_in_name_order(self, tmp_path: Path) -> None:
        for path in ("web/b", "web/a", "orders", "x/y/z"):
            make_table(tmp_path, path)

        found = find_tables(str(tmp_path))

        assert found.tables == [
            ("orders",),
            ("web", "a"),
            ("web", "b"),
            ("x", "y", "z"),
        ]
        assert not found.truncated

    def test_the_root_may_itself_be_a_table(self, tmp_path: Path) -> None:
        make_table(tmp_path, ".")

        assert find_tables(str(tmp_path)).tables == [()]

    @cases(
        "path",
        {
            "inside a table": "orders/nested",
            "below a hidden folder": ".trash/old",
            "below an engine's folder": "_staging/new",
            "below a partition": "day=2024-01-01/t",
        },
    )
    def test_passes_over_what_is_no_place_for_tables(self, tmp_path: Path, path: str):
        make_table(tmp_path, "orders")
        make_table(tmp_path, path)

        assert find_tables(str(tmp_path)).tables == [("orders",)]

    def test_does_not_follow_links(self, tmp_path: Path) -> None:
        lake, outside = tmp_path / "lake", tmp_path / "outside"
        make_table(outside, "secret")
        lake.mkdir()
        (lake / "link").symlink_to(outside)
        (lake / "loop").symlink_to(lake)

        assert find_tables(str(lake)).tables == []

    def test_says_when_a_bound_ends_it_early(self, tmp_path: Path) -> None:
        make_table(tmp_path, "a/b/c/d")

        assert find_tables(str(tmp_path), max_depth=2).truncated
        assert find_tables(str(tmp_path), max_folders=2).truncated

    @pytest.mark.parametrize("name", ["missing", "file"])
    def test_refuses_what_is_no_folder(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").touch()

        with pytest.raises(ScanRootError):
            find_tables(str(tmp_path / name))
