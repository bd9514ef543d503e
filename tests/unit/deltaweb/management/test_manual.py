"""The manual: built strictly, from pages and from the code; it names no other host."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deltaweb.management.manual import HASHES, SITE, SOURCES, build, inline_hashes
from deltaweb.management.manual_pages import commands_page

pytestmark = pytest.mark.slow

OTHER_HOST = re.compile(r"""(?:src|href)=["']?(?:https?:)?//""")
PAGES = [*SITE.rglob("*.html")]
SMALL = """
site_name: small
docs_dir: pages
strict: true
validation: {links: {anchors: warn}}
theme: {name: material, font: false}
"""


def _manual(folder: Path, text: str) -> Path:
    (folder / "pages").mkdir()
    (folder / "mkdocs.yml").write_text(SMALL)
    (folder / "pages" / "index.md").write_text(text)
    return folder


def test_a_manual_is_built_with_the_hashes_of_its_scripts(tmp_path: Path) -> None:
    site = tmp_path / "site"

    build(_manual(tmp_path, "# Here\n\n[up](#here)\n"), site)

    scripts = inline_hashes([(site / "index.html").read_text()])
    assert scripts
    assert {*scripts} <= {*json.loads((site / HASHES).read_text())}
    assert not [*site.rglob("*.map")]


@pytest.mark.parametrize("target", ["gone.md", "#gone"])
def test_a_dead_link_ends_the_build(tmp_path: Path, target: str) -> None:
    source = _manual(tmp_path, f"# Here\n\n[there]({target})\n")

    with pytest.raises(subprocess.CalledProcessError):
        build(source, tmp_path / "site")


def test_inline_scripts_are_allowed_by_their_hashes_alone() -> None:
    page = '<script>a()</script><script src="b.js"></script><script>a()</script>'

    assert inline_hashes([page]) == [
        "'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4='"
    ]


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
