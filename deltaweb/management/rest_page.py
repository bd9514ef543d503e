"""The page of the manual about the REST API, made of its description."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

INTRODUCTION: Final = """\
# REST API

All that pages do, and commands but for `table merge`, for programs.
`/api/openapi.json` of every server describes it in OpenAPI 3.1. A call brings a key of
`/me/` or `deltaweb user key`, whose scopes say what it is for:

```text
curl -H "Authorization: Bearer $KEY" http://127.0.0.1:8000/api/v1/tables
```

Bodies and answers are JSON. Lists come in pages: `next` is the address of the next one,
and null at the end. What takes longer than a call waits is answered by 202 with its
`job`, whose address is in `Location`: ask again when it has ended. An answer about one
version of a table has an `ETag`; sent back as `If-None-Match`, it is 304 where nothing
has become another.

Among rows, whole numbers of 64 bits and decimals are text: JavaScript rounds them.

A refusal says why: `error` is a code that stays as it is, `hint` says what to do.

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
