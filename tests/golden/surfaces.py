"""The lines of each golden file, made from what is registered."""

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from django.core.management import get_commands, load_command_class
from django.urls import URLResolver, get_resolver

from apps.api.urls import described
from apps.jobs import kinds
from apps.pages.page_json import names_of
from apps.pages.request.list_page import ListPage
from apps.sharing.activity.action_words import WORDS
from apps.tables.operations.operation import operations
from deltaweb.environment.command_lines import COMMANDS
from deltaweb.errors import DeltawebError

FOLDER: Final = Path(__file__).parent
DJANGO: Final = frozenset(
    {
        *("-h", "--version", "-v", "--settings", "--pythonpath", "--traceback"),
        *("--no-color", "--force-color", "--skip-checks"),
    }
)
"""The options that Django gives each command."""
MANUAL: Final = FOLDER.parents[1] / "docs" / "manual" / "reference" / "python.md"
DOCUMENTED: Final = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
PYTHON: Final = ("deltaweb", "deltaweb.spark", "deltaweb.parquet", "deltaweb.errors")
LEFT_OUT: Final = re.compile(r"__main__|\.migrations\b|deltaweb\.settings")
PLACES: Final = re.compile(r"/[^\s)]*deltaweb-test-\w+|0x[0-9a-f]+")
"""What differs from one run to the next."""


# === REST ===


def rest_lines() -> Iterator[str]:
    """Yield each call with its parameters, body and answers, then each schema."""
    document = described()
    for path, calls in sorted(document["paths"].items()):
        for method, call in sorted(calls.items()):
            yield f"{method.upper()} {path}"
            for one in call.get("parameters", ()):
                needed = " required" if one.get("required") else ""
                kind = type_text(one["schema"])
                yield f"  {one['in']} {one['name']}: {kind}{needed}"
            for media, body in content_of(call.get("requestBody", {})):
                yield f"  takes {media}: {body}"
            for status, answer in sorted(call["responses"].items()):
                for media, body in content_of(answer) or [("", "")]:
                    yield f"  {status} {media}: {body}".rstrip(": ")
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield from schema_lines(name, schema)


def content_of(holder: Mapping[str, Any]) -> list[tuple[str, str]]:
    content = holder.get("content", {})
    return [(media, type_text(one.get("schema", {}))) for media, one in content.items()]


def schema_lines(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    properties = schema.get("properties")
    if properties is None:
        yield f"{name}: {type_text(schema)}"
        return
    needed = set(schema.get("required", ()))
    yield name
    for key, one in properties.items():
        yield f"  {key}: {type_text(one)}{' required' if key in needed else ''}"


def type_text(schema: Mapping[str, Any]) -> str:
    """Return the type of a schema in one line, without its descriptions."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for word in ("allOf", "oneOf", "anyOf"):
        if word in schema:
            return " | ".join(type_text(one) for one in schema[word])
    kind = schema.get("type", "any")
    text = " | ".join(kind) if isinstance(kind, list) else str(kind)
    if "items" in schema:
        text = f"{text} of {type_text(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), dict):
        text = f"{text} of {type_text(schema['additionalProperties'])}"
    more = [
        f"{word}={schema[word]}"
        for word in ("format", "enum", "default", "minimum", "maximum", "maxLength")
        if word in schema
    ]
    return " ".join([text, *more])


# === Pages ===


def url_lines() -> Iterator[str]:
    """Yield the address of each page and endpoint, with its name."""
    return iter(sorted(set(_urls(get_resolver().url_patterns))))


def _urls(patterns: Any, before: str = "", app: str = "") -> Iterator[str]:  # noqa: ANN401 (Django's own)
    for one in patterns:
        route = f"{before}{one.pattern}"
        if isinstance(one, URLResolver):
            yield from _urls(one.url_patterns, route, one.app_name or app)
        else:
            yield f"/{route} {app}:{one.name}" if one.name else f"/{route}"


def csv_lines() -> Iterator[str]:
    """Yield the columns of each list that is also CSV."""
    load("apps")
    lists = {
        name: value
        for place, module in [*sys.modules.items()]
        if place.startswith("apps.")
        for name, value in vars(module).items()
        if isinstance(value, ListPage)
    }
    for name, one in sorted(lists.items()):
        yield f"{name}: {', '.join(names_of(one.entry))}"
        yield f"{name} sorts: {', '.join(column.key for column in one.columns)}"
        yield f"{name} filters: {', '.join(one.filters)}"


# === Commands ===


def command_lines() -> Iterator[str]:
    """Yield each command with its options, their kinds, choices and defaults."""
    for name, parser in parsers():
        yield name
        for one in parser._actions:  # noqa: SLF001 (argparse tells it nowhere else)
            if isinstance(one, argparse._SubParsersAction):  # noqa: SLF001 (as above)
                continue
            if DJANGO.intersection(one.option_strings):
                continue
            words = " ".join(one.option_strings) or str(one.metavar or one.dest)
            facts = [
                f"{word}={PLACES.sub('…', str(value))}"
                for word, value in (
                    ("takes", one.nargs),
                    ("choices", one.choices and sorted(map(str, one.choices))),
                    ("default", one.default),
                )
                if value not in (None, "==SUPPRESS==", False)
            ]
            # Python before 3.13 requires one or more of an argument that may be none.
            is_needed = one.required and one.nargs != "*"
            yield "  " + " ".join([words, *facts, *(["required"] * is_needed)])


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    holders = get_commands()
    for name in COMMANDS:
        command = load_command_class(str(holders[name]), name)
        parser = command.create_parser("deltaweb", name)
        yield from _below(name, parser)


def _below(
    name: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield name, parser
    for one in parser._actions:  # noqa: SLF001 (as above)
        if isinstance(one, argparse._SubParsersAction):  # noqa: SLF001 (as above)
            for verb, below in one.choices.items():
                yield from _below(f"{name} {verb}", below)


# === Errors, records, Python ===


def error_kinds() -> list[type[DeltawebError]]:
    """Return each class of error, by its name."""
    load("deltaweb")
    load("apps")
    found: list[type[DeltawebError]] = []
    waiting = [DeltawebError]
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting += kind.__subclasses__()
    return sorted(
        {kind for kind in found if not kind.__module__.startswith("tests")},
        key=lambda kind: (kind.code, kind.__name__, kind.message),
    )


def load(package: str) -> None:
    """Import each module of a package, so that its classes are known."""
    folders = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(folders, f"{package}."):
        if not LEFT_OUT.search(module.name):
            importlib.import_module(module.name)


def error_lines() -> Iterator[str]:
    """Yield each error with its code, its status and its facts."""
    for kind in error_kinds():
        status = getattr(kind, "status", "")
        facts = ", ".join(sorted(kind.__annotations__))
        yield f"{kind.code} {kind.__name__} {status} ({facts})".replace("  ", " ")


def record_lines() -> Iterator[str]:
    """Yield the name of each record, job and operation."""
    yield from (f"record {name}" for name in sorted(WORDS))
    yield from (f"job {name}" for name in sorted(kinds.all_kinds()))
    yield from (f"operation {name}" for name in sorted(one.name for one in operations))


def python_lines() -> Iterator[str]:
    """Yield each public name of the library with its parameters, without their types.

    Their texts differ from one Python to the next, and mypy checks them.
    """
    for place in PYTHON:
        module = importlib.import_module(place)
        errors = [name for name in dir(module) if name.endswith("Error")]
        for name in sorted(getattr(module, "__all__", errors)):
            yield f"{place}.{name}{signature_of(getattr(module, name))}"
    for place in DOCUMENTED.findall(MANUAL.read_text(encoding="utf-8")):
        module_name, _, name = place.rpartition(".")
        kind = getattr(importlib.import_module(module_name), name)
        yield f"{place}{signature_of(kind)}"
        for member in sorted(dir(kind) if inspect.isclass(kind) else ()):
            if not member.startswith("_"):
                value = inspect.getattr_static(kind, member)
                function = getattr(value, "__func__", value)
                yield f"  {member}{signature_of(function)}"


def signature_of(value: Any) -> str:  # noqa: ANN401 (any public value)
    """Return the parameters of what can be called; an error's are its facts."""
    if not callable(value) or (inspect.isclass(value) and issubclass(value, Exception)):
        return ""
    try:
        signature = inspect.signature(value)
    except ValueError:  # of C
        return ""
    plain = [
        one.replace(annotation=inspect.Parameter.empty)
        for one in signature.parameters.values()
    ]
    text = signature.replace(
        parameters=plain, return_annotation=inspect.Signature.empty
    )
    return PLACES.sub("…", str(text))


# === Sentences ===


def sentence_lines() -> Iterator[str]:
    """Yield what people read: of errors, of commands, of REST and of records."""
    for kind in error_kinds():
        yield f"error {kind.code} {kind.__name__}: {one_line(kind.message, kind.hint)}"
    yield from (f"record {name}: {text}" for name, text in sorted(WORDS.items()))
    yield from _sentences_of_commands()
    yield from _sentences_of_rest()


def _sentences_of_commands() -> Iterator[str]:
    for name, text in sorted(COMMANDS.items()):
        yield f"command {name}: {text}"
    for name, parser in parsers():
        yield f"command {name}: {one_line(parser.description or '')}"
        for one in parser._actions:  # noqa: SLF001 (as above)
            if one.help and not DJANGO.intersection(one.option_strings):
                word = (one.option_strings or [one.dest])[-1]
                yield f"command {name} {word}: {one_line(PLACES.sub('…', one.help))}"


def _sentences_of_rest() -> Iterator[str]:
    document = described()
    for path, calls in sorted(document["paths"].items()):
        for method, call in sorted(calls.items()):
            texts = (call.get("summary", ""), call.get("description", ""))
            yield f"rest {method.upper()} {path}: {one_line(*texts)}"
    for name, schema in sorted(document["components"]["schemas"].items()):
        for key, one in schema.get("properties", {}).items():
            if "description" in one:
                yield f"rest {name}.{key}: {one_line(one['description'])}"


def one_line(*texts: str) -> str:
    return " ".join(" ".join(texts).split())


SURFACES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "commands.txt": command_lines,
    "csv.txt": csv_lines,
    "errors.txt": error_lines,
    "python.txt": python_lines,
    "records.txt": record_lines,
    "rest.txt": rest_lines,
    "sentences.txt": sentence_lines,
    "urls.txt": url_lines,
}
