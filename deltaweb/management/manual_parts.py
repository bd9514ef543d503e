"""What a server shows of the manual in its own layout: the text of each page, as JSON.

mkdocs calls `on_page_context` and `on_post_page` for each page. A link to `app:tables/`
leads to that page of the server.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink

PART: Final = "part.json"
"""Beside each page: its title, text and headings."""
CONTENTS: Final = "contents.json"
"""The sections of the manual, with their pages."""
_OF_APP: Final = re.compile(r'<a href="app:[^"]*">(.*?)</a>')


def on_page_context(
    context: Any,  # noqa: ANN401 (of the theme)
    *,
    page: Page,
    config: MkDocsConfig,
    nav: Navigation,
) -> Any:  # noqa: ANN401 (as above)
    """Write what a server shows of a page in its own layout (a hook of mkdocs)."""
    site = Path(config.site_dir)
    folder = site / page.url
    folder.mkdir(parents=True, exist_ok=True)
    if page.is_homepage:
        _write(site / CONTENTS, [_entry(one) for one in nav.items])
    part = {
        "title": page.title,
        "content": page.content,
        "toc": [*_headings(page.toc)],
        "previous": page.previous_page and _link(page.previous_page),
        "next": page.next_page and _link(page.next_page),
    }
    _write(folder / PART, part)
    return context


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Take out links to pages of a server, which a published manual has not."""
    del page, config
    return _OF_APP.sub(r"\1", output)


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _entry(item: Any) -> dict[str, Any]:  # noqa: ANN401 (a page, or a section of pages)
    if item.children is None:
        return _link(item) | {"pages": []}
    return {"title": item.title, "url": "", "pages": [*map(_link, item.children)]}


def _link(page: Any) -> dict[str, str]:  # noqa: ANN401 (of mkdocs)
    return {"title": page.title, "url": page.url}


def _headings(toc: Iterable[AnchorLink]) -> Iterator[dict[str, Any]]:
    for one in toc:
        yield {"id": one.id, "title": one.title, "level": one.level}
        yield from _headings(one.children)
