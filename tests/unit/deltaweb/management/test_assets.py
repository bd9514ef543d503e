"""What set-up copies, and that no page names another host."""

import re
from pathlib import Path

import pytest

from deltaweb.management.assets import (
    AssetError,
    drop_unused_rules,
    icon_sprite,
    plotly_stylesheet,
)

ROOT = Path(__file__).resolve().parents[4]
OTHER_HOST = re.compile(
    r"""(?:src|href|action)=["'](?:https?:)?//|url\(["']?(?:https?:)?//|@import"""
)
INSIDE = re.compile(
    r"""<script(?![^>]*\bsrc=)(?![^>]*application/json)|<style|\sstyle=["']|\son[a-z]+=["']"""
)


def own_files() -> list[Path]:
    found = [*ROOT.glob("templates/**/*.html")]
    for kind in ("css", "js"):
        found += ROOT.glob(f"static/{kind}/**/*.{kind}")
    return found


def test_no_template_or_stylesheet_refers_to_another_host() -> None:
    assert [path for path in own_files() if OTHER_HOST.search(path.read_text())] == []


def test_no_template_has_a_script_or_style_inside() -> None:
    templates = ROOT.glob("templates/**/*.html")

    assert [path for path in templates if INSIDE.search(path.read_text())] == []


def test_every_icon_that_a_template_names_is_in_the_sprite() -> None:
    listed = set((ROOT / "static" / "icons.txt").read_text().split())
    named: set[str] = set()
    for path in ROOT.glob("templates/**/*.html"):
        named |= set(re.findall(r'{% icon "([a-z0-9-]+)"', path.read_text()))

    assert named - listed == set()


def test_rules_stay_that_pages_name(tmp_path: Path) -> None:
    sheet = tmp_path / "library.css"
    rules = ["body{margin:0}", ".visually-hidden{width:1px}", ".no-such-class{top:0}"]
    sheet.write_text("".join(rules))

    drop_unused_rules(sheet)

    assert sheet.read_text() == "".join(rules[:2])


def test_an_unknown_icon_is_named() -> None:
    with pytest.raises(AssetError, match="no-such-icon"):
        icon_sprite(["no-such-icon"])


def test_the_sprite_has_a_symbol_for_each_icon() -> None:
    sprite = icon_sprite(["search", "x"])

    assert sprite.count("<symbol") == 2
    assert 'id="i-search"' in sprite


class TestPlotlyStylesheet:
    def test_turns_the_rules_of_the_bundle_into_css(self) -> None:
        rules = ",".join(f'"X .c{n}":"a:{n};"' for n in range(60))
        css = plotly_stylesheet('x={"X,X div":\'font:"O";\',' + rules + "};")

        assert css.splitlines()[0] == (
            '.js-plotly-plot .plotly,.js-plotly-plot .plotly div{font:"O";}'
        )
        assert len(css.splitlines()) == 61

    def test_refuses_a_bundle_that_keeps_them_elsewhere(self) -> None:
        with pytest.raises(AssetError, match="style rules"):
            plotly_stylesheet("var nothing={}")
