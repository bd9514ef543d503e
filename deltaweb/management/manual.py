"""Builds the manual from docs/manual: `python -m deltaweb.management.manual`.

The pages are static and refer to no other host. Every server shows them under /help/;
`docs/site` can be published as it is, too. A dead page or a dead anchor ends the build.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = ROOT / "docs"
SITE: Final = SOURCES / "site"
HASHES: Final = "inline-scripts.json"
"""Beside the pages: what a Content-Security-Policy allows of scripts inside them."""

_DIALOG: Final = 'data-md-component="search" role="dialog"'
_NAMED_DIALOG: Final = f'{_DIALOG} aria-label="Search"'
# A block of data has a type, and is not run.
_INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def build(sources: Path, site: Path) -> None:
    """Build the pages and note the hashes of their inline scripts."""
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
    pages = []
    for path in site.rglob("*.html"):
        # The theme's search is a dialog that has no name.
        page = path.read_text(encoding="utf-8").replace(_DIALOG, _NAMED_DIALOG)
        path.write_text(page, encoding="utf-8")
        pages.append(page)
    (site / HASHES).write_text(json.dumps(inline_hashes(pages)), encoding="utf-8")


def inline_hashes(pages: Iterable[str]) -> list[str]:
    """Return the sources of a Content-Security-Policy for the scripts inside pages."""
    scripts = {script for page in pages for script in _INLINE.findall(page)}
    return sorted(f"'sha256-{_digest(script)}'" for script in scripts)


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


if __name__ == "__main__":
    build(SOURCES, SITE)
