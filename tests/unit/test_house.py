"""The house stays small: rooms in a folder, lines in a file, one word for one class."""

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable

ROOT = Path(__file__).resolve().parents[2]
MAX_ROOMS = 16
MAX_LINES = 500
# Folders of registered cases: each room is one more of its kind.
CASES = {
    "deltaweb": "the packages of the library, and the modules that wire them",
    "deltaweb/delta/features": "a file a table feature",
    "deltaweb/health/rules": "a file a rule",
    "apps/explorer": "a folder a page",
    "apps/tables/work": "a file a kind of job",
    "apps/sharing": "the floors of sharing, and the modules that wire them",
    "apps/tables": "the floors of tables, and the modules that wire them",
}
# The words of logic are two things: a condition as written, and as evaluated.
TWO_THINGS = {"And", "Or", "Not", "Like"}
GENERATED = {"migrations", "__pycache__"}
# To parse a file takes milliseconds: only those are that may hold what is looked for.
CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
LATE = re.compile(r"^ *(def __getattr__\(name|__getattr__ =)", re.MULTILINE)


def _folders() -> Iterator[Path]:
    for top in ("deltaweb", "apps"):
        for folder in (ROOT / top, *(ROOT / top).rglob("*")):
            if folder.is_dir() and not GENERATED & set(folder.parts):
                yield folder


def _rooms(folder: Path) -> list[str]:
    return [
        room.stem
        for room in folder.iterdir()
        if room.name not in {"__init__.py", *GENERATED}
        and (room.suffix == ".py" or (room.is_dir() and list(room.rglob("*.py"))))
    ]


@cache
def _sources(top: str) -> dict[str, str]:
    """The text of each module below a folder, by its name."""
    return {
        _name(path): path.read_text(encoding="utf-8")
        for path in (ROOT / top).rglob("*.py")
        if not GENERATED & set(path.parts)
    }


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_folder_has_more_rooms_than_one_looks_over() -> None:
    counts = {_name(folder): len(_rooms(folder)) for folder in _folders()}

    assert counts
    assert {
        name: count
        for name, count in counts.items()
        if count > MAX_ROOMS and name not in CASES
    } == {}
    assert set(CASES) <= set(counts)


def test_no_file_has_more_lines_than_one_reads() -> None:
    counts = {
        name: len(text.splitlines())
        for top in ("deltaweb", "apps", "tests")
        for name, text in _sources(top).items()
    }

    assert counts
    assert {n: c for n, c in counts.items() if c > MAX_LINES} == {}


def test_style_sheets_close_what_they_open() -> None:
    """What follows an open block would hold on narrow screens alone, say."""
    sheets = list((ROOT / "static/css").glob("*.css"))

    assert sheets
    for sheet in sheets:
        text = sheet.read_text(encoding="utf-8")
        assert text.count("{") == text.count("}"), sheet.name


def test_no_two_classes_of_the_library_have_one_name() -> None:
    places = defaultdict(list)
    for name, text in _sources("deltaweb").items():
        for declared in CLASS.findall(text):
            places[declared].append(name)
    # A management command is found by the name of its class.
    public = {
        name: where
        for name, where in places.items()
        if name[0] != "_" and name not in {"Command", *TWO_THINGS}
    }

    assert public
    assert {name: where for name, where in public.items() if len(where) > 1} == {}


@pytest.mark.parametrize("shown", [DeltaTable, Snapshot])
def test_what_the_reference_shows_says_what_it_is(shown: type) -> None:
    public = [name for name in dir(shown) if not name.startswith("_")]

    assert public
    assert [name for name in public if not inspect.getdoc(getattr(shown, name))] == []


def test_every_module_has_one_path_and_one_name() -> None:
    """What is imported by two names exists twice: classes, registries, locks."""
    links = [
        path
        for top in ("deltaweb", "apps", "static", "templates")
        for path in (ROOT / top).rglob("*")
        if path.is_symlink()
    ]

    assert links == []


def test_comparisons_are_written_down_in_one_place() -> None:
    """Signs, names in addresses and names in hints have one table, which all ask."""
    spellings = [
        {"<", "<=", ">", ">="},
        {"lt", "le", "gt", "ge"},
        {"LT", "LTE", "GT", "GTE"},
        {"lessthan", "lessthanorequal", "greaterthan", "greaterthanorequal"},
    ]
    displays = (ast.Assign, ast.AnnAssign, ast.Dict, ast.Set, ast.Tuple, ast.List)
    tables = set()
    for name, text in (_sources("deltaweb") | _sources("apps")).items():
        there = {*re.findall(r"\w+|[<>]=?", text)}  # few files have to be parsed
        if not any(words <= there for words in spellings):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, displays) and any(
                words <= set(_words_in(node)) for words in spellings
            ):
                tables.add(name)

    assert tables == {"deltaweb/delta/scan/operators.py"}


def test_each_key_of_the_protocol_has_one_name() -> None:
    """What a property or a key of a column is called is spelled in one module."""
    spelled = defaultdict(set)
    for name, text in (_sources("deltaweb") | _sources("apps")).items():
        if '= "delta.' not in text:
            continue
        for node in ast.parse(text).body:
            match node:
                case (
                    ast.Assign(value=ast.Constant(value=str() as key))
                    | ast.AnnAssign(value=ast.Constant(value=str() as key))
                ) if key.startswith("delta."):
                    spelled[key].add(name)

    assert spelled
    assert {key: where for key, where in spelled.items() if len(where) > 1} == {}


def test_what_is_loaded_late_is_loaded_in_one_way() -> None:
    """A module with a `__getattr__` has it of `deltaweb/lazy`."""
    late = {
        name: "_on_demand(" in text
        for top in ("deltaweb", "apps")
        for name, text in _sources(top).items()
        if LATE.search(text)
    }

    assert late
    assert {name for name, is_of_lazy in late.items() if not is_of_lazy} == set()


def _words_in(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from part.value.split()
        elif isinstance(part, ast.Attribute):
            yield part.attr
