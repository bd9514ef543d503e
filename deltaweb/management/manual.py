"""Builds the manual from docs/manual: `python -m deltaweb.management.manual`.

The pages are static and refer to no other host: `docs/site` can be published. Every
server shows their text under /help/, in the layout of the app. A dead page or a dead
anchor ends the build.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = ROOT / "docs"
SITE: Final = SOURCES / "site"

_DIALOG: Final = 'data-md-component="search" role="dialog"'
_NAMED_DIALOG: Final = f'{_DIALOG} aria-label="Search"'


def build(sources: Path, site: Path) -> None:
    """Build the pages, and beside each what a server shows of it in its own layout."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    # `--quiet` would keep dead anchors from ending the build.
    subprocess.run(  # noqa: S603 (words of ours)
        [*command, "--config-file", sources / "mkdocs.yml", "--site-dir", site],
        check=True,
        # The pages that are made from the code are made from this tree; pip names
        # there, too, where what it has installed for a build is.
        env=os.environ
        | {
            "NO_MKDOCS_2_WARNING": "1",
            "PYTHONPATH": os.pathsep.join(
                filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
            ),
        },
    )
    for source_map in site.rglob("*.map"):
        source_map.unlink()
    for path in site.rglob("*.html"):
        # The theme's search is a dialog that has no name.
        page = path.read_text(encoding="utf-8").replace(_DIALOG, _NAMED_DIALOG)
        path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    build(SOURCES, SITE)
