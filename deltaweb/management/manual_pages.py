"""Pages of the manual that are made from the code: what commands and calls take.

mkdocs calls `on_files` while it collects the pages, and `on_page_markdown` for each.
"""

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from typing import Final

import django
from django.core.management import execute_from_command_line
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from deltaweb.environment.command_lines import COMMANDS
from deltaweb.management.rest_page import rest_page

COMMANDS_PAGE: Final = "reference/commands.md"
REST_PAGE: Final = "reference/rest.md"
WIDTH: Final = "88"
_PICTURE: Final = re.compile(r"!\[([^]]+)\]\((\S+)-light\.webp\)")
_BOTH: Final = r"![\1](\2-light.webp#only-light) ![\1](\2-dark.webp#only-dark)"
_VERB: Final = re.compile(r"^  ([a-z][a-z-]*)  ", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here (a hook of mkdocs)."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-manual-") as home:
        os.environ |= {"DELTAWEB_HOME": home, "COLUMNS": WIDTH}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
        for path, page in ((COMMANDS_PAGE, commands_page), (REST_PAGE, _rest_page)):
            files.append(File.generated(config, path, content=page()))
    return files


def on_page_markdown(
    markdown: str, *, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Show of a picture the one that suits the reader's theme (a hook of mkdocs)."""
    del page, config, files
    return _PICTURE.sub(_BOTH, markdown)


def commands_page() -> str:
    """Return the page of all commands, as each says it of itself by `--help`."""
    return "\n".join(_lines())


def _rest_page() -> str:
    django.setup()
    from deltaweb.web.api.urls import described  # noqa: PLC0415 (apps must be loaded)

    return rest_page(described())


def _lines() -> Iterator[str]:
    yield "# Commands\n"
    yield "What `--help` says of each. They exit with 0 when done, 1 when something was"
    yield "refused or failed, and 2 when the line itself was wrong."
    for name, sentence in COMMANDS.items():
        yield f"\n## {name}\n\n{sentence}\n"
        said = _help(name)
        yield _block(said)
        for verb in _verbs(said):
            yield f"\n### {name} {verb}\n\n{_block(_help(name, verb))}"


def _help(*words: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        execute_from_command_line(["deltaweb", *words, "--help"])
    return said.getvalue().strip()


def _verbs(said: str) -> list[str]:
    is_group = " VERB ..." in said.partition("\n")[0]
    return _VERB.findall(said) if is_group else []


def _block(text: str) -> str:
    return f"```text\n{text}\n```"
