"""What people read is in the field's words: pages, messages, commands, the manual."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.glossary import GLOSSARY

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
# Between two marks of a template: what a browser shows, and what lies beside it.
_COMMENTS = re.compile(r"{#.*?#}|{% comment %}.*?{% endcomment %}", re.DOTALL)
_UNREAD = re.compile(
    r"{%(?! *include| *translate).*?%}|{{.*?}}|<script.*?</script>", re.DOTALL
)
_SHOWN = re.compile(
    r'\b(?:title|placeholder|alt|aria-label|label|help|empty|noun)="([^"]*)"|>([^<>]+)<',
)
# Fields of Python's syntax that hold no text, and are half of all.
_WORDLESS = {"annotation", "ctx", "op", "ops", "returns"}
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def _strings(source: str) -> Iterator[str]:
    """Yield texts of several words of Python source, without its docstrings."""
    waiting: list[ast.AST] = [ast.parse(source)]
    for node in waiting:  # which grows by what is inside
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.value
        elif isinstance(node, ast.JoinedStr):
            waiting += [
                part for part in node.values if isinstance(part, ast.FormattedValue)
            ]
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x"
                for part in node.values
            )
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            for name in node._fields:
                field = None if name in _WORDLESS else getattr(node, name, None)
                if isinstance(field, list):
                    waiting += [part for part in field if isinstance(part, ast.AST)]
                elif isinstance(field, ast.AST) and not isinstance(field, ast.Name):
                    waiting.append(field)


def _of_python(source: str) -> str:
    texts = [text for text in _strings(source) if " " in text.strip()]
    return "\n".join(" ".join(text.split()) for text in texts)


def _of_template(source: str) -> str:
    bare = _UNREAD.sub(" ", _COMMENTS.sub(" ", source))
    shown = (quoted or between for quoted, between in _SHOWN.findall(f">{bare}<"))
    return "\n".join(" ".join(text.split()) for text in shown)


def _of_golden(source: str) -> str:
    """Return the sentences of errors, commands, OpenAPI and records, one a line."""
    return _CODE.sub(" ", source)


def _of_manual(source: str) -> str:
    return " ".join(_CODE.sub(" ", source).split())


READERS = {
    ".py": _of_python,
    ".html": _of_template,
    ".md": _of_manual,
    ".txt": _of_golden,
}


def _files() -> Iterator[Path]:
    yield ROOT / "README.md"
    yield ROOT / "tests" / "golden" / "sentences.txt"
    yield from (ROOT / "docs" / "manual").rglob("*.md")
    yield from (ROOT / "templates").rglob("*.html")
    for top in ("apps", "deltaweb"):
        yield from (
            path
            for path in (ROOT / top).rglob("*.py")
            if "migrations" not in path.parts
        )


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """What people read of each file."""
    return {
        path.relative_to(ROOT).as_posix(): READERS[path.suffix](path.read_text())
        for path in _files()
    }


@pytest.mark.parametrize("entry", GLOSSARY, ids=lambda entry: entry.instead)
def test_people_read_the_words_of_the_field(texts, entry):
    assert len(texts) > 1000
    assert {
        name: uses for name, text in texts.items() if (uses := [*entry.found_in(text)])
    } == {}


@pytest.mark.parametrize(
    ("suffix", "source", "found"),
    [
        (".py", 'hint = f"{name} is no {kind}."', 1),
        (".py", 'hint = ("what is asked " "of it")', 0),
        (".py", 'hint = ("what was asked " f"for by {name}")', 1),
        (".py", '"""It is asked for."""\nkey = "asked-for"  # asked for', 0),
        (".html", "<p>{{ name }} is\n no table</p>", 1),
        (".html", '<a title="asked for">{% icon "asked for" %}</a>{# asked for #}', 1),
        (".html", "There is no table", 0),
        (".md", "what was asked\nfor, and `asked for`", 1),
        (".txt", "rest A.b: Whom to hand it over.\nrest A.c: `asked for`", 1),
    ],
)
def test_a_word_is_found_where_people_read_it(suffix, source, found):
    text = READERS[suffix](source)

    assert sum(len([*entry.found_in(text)]) for entry in GLOSSARY) == found


@pytest.mark.parametrize(
    "sentence",
    [
        "Take back from acme",
        "What is held is spared by vacuums and clean-ups of the log from here.",
        "acme is looked at: look again",
        "Forget the profile and 3 tables",
        "Choose how long the token lives.",
        "acme answers; its token is sealed.",
        "a table that comes is shared when it comes",
        "A recipient is somebody outside who reads your shares.",
        "Nobody may read this share yet.",
        "You sign in by links; with a password you can do without.",
        "kept nowhere, and not shown again",
        "Hand the new profile over.",
        "In 7 days it turned away 203.0.113.7.",
        "The database does not answer just now.",
        "Try again later; if it stays so, tell the provider.",
        "it has 11 bytes, and 10 are the most",
        "let a recipient come by OAuth, too",
        "times without a zone, by the clocks of Berlin",
        "Networks, one a line",
        "by a token of minutes with the same grants",
        "The examination broke off",
        "URLs of files that were given out before no longer open.",
        "That name and password do not go together.",
        "This works one time.",
        "It may, as far as you may",
        "What becomes of its columns",
        "list what recipients are to be told",
    ],
)
def test_sentences_that_had_to_be_read_twice_do_not_come_back(sentence):
    assert [use for entry in GLOSSARY for use in entry.found_in(sentence)]
