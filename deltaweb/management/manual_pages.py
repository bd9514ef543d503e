"""Pages of the manual that are made from the code: what commands and calls take.

mkdocs calls `on_files` while it collects the pages, and `on_page_markdown` for each.
"""

import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import django
from django.core.management import execute_from_command_line
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from deltaweb.environment.command_lines import COMMANDS
from deltaweb.management.client_pages import clients_page

COMMANDS_PAGE: Final = "reference/commands.md"
REST_PAGE: Final = "reference/rest.md"
CLIENTS_PAGE: Final = "reference/clients.md"
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
    results = Path(config.docs_dir).with_name("clients.json").read_text("utf-8")
    made = clients_page(json.loads(results))
    files.append(File.generated(config, CLIENTS_PAGE, content=made))
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
    from apps.api.urls import described  # noqa: PLC0415 (apps must be loaded)

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


# === The REST API ===


INTRODUCTION: Final = """\
# REST API

The REST API does everything the pages and commands do, except `table merge`.
`/api/openapi.json` of every server describes it in OpenAPI 3.1, and
[this page of a server](app:api/reference/) also calls it. Send an API key (from
/me/ or `deltaweb user key`). Its scopes limit what it can do:

```text
curl -H "Authorization: Bearer $KEY" http://127.0.0.1:8000/api/v1/tables
```

Bodies and answers are JSON. Lists come in pages: `next` is the URL of the next page,
and null on the last one. A call that takes long gets 202 with a `job`, whose URL is in
`Location`; repeat the call when the job has ended. An answer about one version of a
table has an `ETag`: send it as `If-None-Match`; you get 304 if nothing changed.

In rows, 64-bit integers and decimals are text, because JavaScript would round them.

An error explains itself: `error` is a stable code, and `hint` says what to do.

```json
{"error": "table-not-found", "message": "...", "hint": "...", "request_id": "1b6f3c0a"}
```
"""
METHODS: Final = ("get", "post", "put", "patch", "delete")


def rest_page(openapi: Mapping[str, Any]) -> str:
    return "\n".join([INTRODUCTION, *_endpoints(openapi)])


def _endpoints(openapi: Mapping[str, Any]) -> Iterator[str]:
    found = [
        (path, method, calls[method])
        for path, calls in openapi["paths"].items()
        for method in METHODS
        if method in calls
    ]
    for tag, endpoints in groupby(found, key=lambda one: one[2]["tags"][0]):
        yield f"\n## {tag.capitalize()}"
        for path, method, call in endpoints:
            yield f"\n### {method.upper()} {path}\n\n{call['summary']}."
            yield f"\n{call.get('description', '')}"
            yield from _parameters(call)
            yield from _body(call, openapi["components"]["schemas"])
            yield from _answers(call)


def _parameters(call: Mapping[str, Any]) -> Iterator[str]:
    asked = [one for one in call.get("parameters", ()) if one["in"] == "query"]
    if asked:
        yield "\n| parameter | |\n|-|-|"
        for one in asked:
            yield _row(one["name"], one.get("description", ""), one["schema"])


def _body(call: Mapping[str, Any], shapes: Mapping[str, Any]) -> Iterator[str]:
    content = call.get("requestBody", {}).get("content", {})
    for media in content.values():
        rows = [*_rows(_shape(media["schema"], shapes), shapes)]
        if rows:
            yield "\n| in the body | |\n|-|-|"
            yield from rows


def _rows(
    shape: Mapping[str, Any], shapes: Mapping[str, Any], above: str = ""
) -> Iterator[str]:
    """Yield a row a field, those of a field below it."""
    for name, field in shape.get("properties", {}).items():
        inner = _shape(field, shapes)
        yield _row(f"{above}{name}", field.get("description", ""), inner)
        many = "[]" if "items" in field else ""
        yield from _rows(inner, shapes, f"{above}{name}{many}.")


def _shape(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a schema, that of its entries, or that beside null refers to."""
    choices = [one for one in schema.get("oneOf", ()) if "NullEnum" not in str(one)]
    wanted = choices[0] if choices else schema.get("items", schema)
    name = wanted.get("$ref", "").rpartition("/")[2]
    found: Mapping[str, Any] = shapes[name] if name else wanted
    return found


def _answers(call: Mapping[str, Any]) -> Iterator[str]:
    codes = ", ".join(sorted(code for code in call["responses"] if code < "400"))
    yield f"\nAnswers {codes}."


def _row(name: str, words: str, schema: Mapping[str, Any]) -> str:
    choices = ", ".join(f"`{one}`" for one in schema.get("enum", ()) if one)
    text = " ".join(part for part in (words, choices and f"One of {choices}.") if part)
    return f"| `{name}` | {text.replace('|', chr(92) + '|')} |"
