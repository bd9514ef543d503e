"""The manual: built strictly, from pages and from the code; it names no other host."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deltaweb.management.manual import SITE, SOURCES, build
from deltaweb.management.manual_pages import commands_page

pytestmark = pytest.mark.slow

OTHER_HOST = re.compile(r"""(?:src|href)=["']?(?:https?:)?//""")
PAGES = [*SITE.rglob("*.html")]
HOOKS = SOURCES.parent / "deltaweb" / "management" / "manual_parts.py"
SMALL = """
site_name: small
docs_dir: pages
strict: true
validation: {links: {anchors: warn}}
hooks: [HOOKS]
theme: {name: material, font: false}
"""


def _manual(folder: Path, text: str) -> Path:
    (folder / "pages").mkdir()
    (folder / "mkdocs.yml").write_text(SMALL.replace("HOOKS", str(HOOKS)))
    (folder / "pages" / "index.md").write_text(text)
    return folder


def test_a_manual_is_built_with_what_servers_show_of_it(tmp_path: Path) -> None:
    site = tmp_path / "site"
    text = "# Here\n\n## Then\n\n[up](#here) and [out](app:tables/)\n"

    build(_manual(tmp_path, text), site)

    part = json.loads((site / "part.json").read_text())
    assert (part["title"], part["previous"], part["next"]) == ("Here", None, None)
    assert [(one["id"], one["level"]) for one in part["toc"]] == [
        ("here", 1),
        ("then", 2),
    ]
    assert '<a href="app:tables/">out</a>' in part["content"]
    assert json.loads((site / "contents.json").read_text()) == [
        {"title": "Here", "url": "", "pages": []}
    ]
    published = (site / "index.html").read_text()
    assert "and out" in published
    assert "app:" not in published
    assert not [*site.rglob("*.map")]


@pytest.mark.parametrize("target", ["gone.md", "#gone"])
def test_a_dead_link_ends_the_build(tmp_path: Path, target: str) -> None:
    source = _manual(tmp_path, f"# Here\n\n[there]({target})\n")

    with pytest.raises(subprocess.CalledProcessError):
        build(source, tmp_path / "site")


def test_pages_name_no_other_host() -> None:
    assert len(PAGES) > 2
    assert {
        page.relative_to(SITE): found
        for page in PAGES
        if (found := OTHER_HOST.findall(page.read_text()))
    } == {}


def test_each_command_is_on_its_page() -> None:
    text = commands_page()

    assert "### table history" in text
    assert "usage: deltaweb table history" in text
    assert "### user link" in text


def test_what_is_built_is_not_part_of_the_sources() -> None:
    ignored = shutil.which("git")
    assert ignored
    done = subprocess.run(
        [ignored, "check-ignore", "-q", str(SITE)], cwd=SOURCES, check=False
    )
    assert done.returncode == 0


def test_a_build_finds_what_pip_has_installed_for_it(tmp_path: Path, monkeypatch):
    # pip tells the programs of a build by PYTHONPATH where their packages are.
    installed, site = tmp_path / "installed" / "mkdocs", tmp_path / "site"
    installed.mkdir(parents=True)
    (installed / "__init__.py").touch()
    (installed / "__main__.py").write_text(
        "import pathlib, sys\n"
        "site = pathlib.Path(sys.argv[-1])\n"
        "site.mkdir()\n"
        "(site / 'index.html').write_text('built by what pip brought')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(installed.parent))

    build(_manual(tmp_path, "# Here\n"), site)

    assert (site / "index.html").read_text() == "built by what pip brought"


def test_every_folder_of_the_manual_has_a_page_of_its_own() -> None:
    pages = [*(SOURCES / "manual").rglob("*.md")]
    folders = {page.parent for page in pages}

    assert [str(one) for one in folders if not (one / "index.md").is_file()] == []
    nav = (SOURCES / "mkdocs.yml").read_text()
    manual = SOURCES / "manual"
    for page in pages:
        assert f"- {page.relative_to(manual).as_posix()}" in nav
        if page.parent != manual:
            linked = (page.parent / "index.md").read_text()
            assert page.name == "index.md" or f"]({page.name})" in linked
