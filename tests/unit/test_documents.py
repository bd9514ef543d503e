"""The map of the source: docstrings of packages, and the page on architecture."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_SENTENCES = 3
# A noun phrase: an article, or a plural such as "Users, roles" or "Tests of".
NOUN = re.compile(r"(The|A|An) |[A-Z][a-z]+s(,| of| and| for| that) ")
ARCHITECTURE = ROOT / "docs" / "architecture.md"
MAX_WORDS = 1_200
# A sentence ends before a space and a capital, or at the end: not in `metadata.json`.
SENTENCE = re.compile(r"[.!?](?=\s+[A-Z`]|\s*$)")
SOURCE = re.compile(r"^Source: .*", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"`([a-z_]+)`")
NAMED_FILE = re.compile(r"`([\w/*]+\.(?:py|js|html))`")
FENCE = re.compile(r"```.*?```", re.DOTALL)
ENTRY = re.compile(r"^(?P<indent> *)(?P<names>[a-z_]+/(?: +[a-z_]+/)*)(?:  |$)")


def _packages() -> Iterator[Path]:
    for top in ("deltaweb", "apps"):
        for face in (ROOT / top).rglob("__init__.py"):
            if "_site" not in face.parts:
                yield face


def _docstring(face: Path) -> str:
    return ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) or ""


def test_each_package_says_what_it_contains() -> None:
    texts = {
        face.parent.relative_to(ROOT).as_posix(): SOURCE.sub("", _docstring(face))
        for face in _packages()
    }

    assert len(texts) > 100
    assert {name: text for name, text in texts.items() if not text} == {}
    assert {name: text for name, text in texts.items() if not NOUN.match(text)} == {}
    assert {
        name: text
        for name, text in texts.items()
        if not 1 <= len(SENTENCE.findall(text)) <= MAX_SENTENCES
    } == {}


def test_modules_that_a_package_names_exist() -> None:
    """A name is of a module in the package, of a package beside it, or public."""
    gone = []
    for face in _packages():
        folder = face.parent
        known = {path.stem for path in folder.rglob("*")}
        known |= {path.stem for path in ROOT.iterdir()}
        known |= {*re.findall(r'"(\w+)"', face.read_text(encoding="utf-8"))}
        gone += [
            f"{folder}: {name}"
            for name in MODULE.findall(_docstring(face))
            if name not in known
        ]

    assert gone == []


def _tree() -> Iterator[str]:
    """Yield the folders that the page draws, by their path."""
    block = FENCE.search(ARCHITECTURE.read_text(encoding="utf-8"))
    assert block
    above: list[tuple[int, str]] = []
    for line in block.group().splitlines():
        if entry := ENTRY.match(line):
            indent = len(entry["indent"])
            above = [one for one in above if one[0] < indent]
            start = above[-1][1] if above else ""
            names = entry["names"].split()
            yield from (f"{start}{name}" for name in names)
            above.append((indent, f"{start}{names[-1]}"))


def test_the_tree_of_the_architecture_page_is_that_of_the_repository() -> None:
    drawn = {path.rstrip("/") for path in _tree()}

    assert {path for path in drawn if not (ROOT / path).is_dir()} == set()
    packages = {
        f"{top}/{face.parent.name}"
        for top in ("deltaweb", "apps")
        for face in (ROOT / top).glob("*/__init__.py")
    }
    assert packages <= drawn


def test_the_architecture_page_is_one_page() -> None:
    words = ARCHITECTURE.read_text(encoding="utf-8").split()

    assert len(words) <= MAX_WORDS


def test_files_that_contributing_names_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {name for name in NAMED_FILE.findall(text) if "*" not in name}
    files = {
        path.relative_to(ROOT).as_posix()
        for top in ("apps", "deltaweb", "static", "templates", "tests")
        for path in (ROOT / top).rglob("*.*")
    }

    assert len(named) > 20
    assert {
        name
        for name in named
        if not any(f"/{file}".endswith(f"/{name}") for file in files)
    } == set()
