"""Each class of a template has a style, is used by a script, or has a reason."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ATTRIBUTE = re.compile(r'\bclass="((?:[^"{]|\{%.*?%\}|\{\{.*?\}\})*)"', re.DOTALL)
TAG, VALUE = "\x01", "\x02"  # in place of a template's tags and values
RULE = re.compile(r"([^{}]*[^{}\s])\s*\{")
CLASS = re.compile(r"\.(-?[a-zA-Z_][\w-]*)")
COMPOUND = re.compile(r"[\s>+~]+")
WITHOUT_STYLE = {
    "is-gray": "a chip is grey without it",
    "no-inline-styles": "a mark that plotly looks for",
    "x-pick": "a mark of the menus of versions",
}
"""Why a class has no rule."""


def sheets() -> Iterator[str]:
    for path in sorted((ROOT / "static").rglob("*.css")):
        yield path.read_text()


@cache
def rules_of_modifiers() -> dict[str, list[tuple[frozenset[str], frozenset[str]]]]:
    """By a class `is-...`: the classes beside it in a selector, and those around."""
    found: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
    for selectors in (match[1] for text in sheets() for match in RULE.finditer(text)):
        for selector in re.sub(r":(?:is|where|not|has)\([^()]*\)", "", selectors).split(
            ","
        ):
            around = frozenset[str]()
            for compound in COMPOUND.split(selector):
                own = frozenset(CLASS.findall(compound))
                for name in own:
                    if name.startswith("is-"):
                        found.setdefault(name, []).append((own - {name}, around))
                around |= own
        for inner in re.findall(r":is\(([^()]*)\)", selectors):
            for name in CLASS.findall(inner):
                found.setdefault(name, []).append((frozenset(), frozenset()))
    return found


@cache
def templates() -> dict[str, str]:
    """The text of each template by its name."""
    folder = ROOT / "templates"
    paths = sorted(folder.rglob("*.html"))
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def elements() -> Iterator[tuple[str, str, set[str]]]:
    """Yield the template, the text around it, and the classes of an element.

    Around a part is what includes it.
    """
    for path, text in templates().items():
        includes = f'include "{path}'
        around = text + "".join(t for t in templates().values() if includes in t)
        for match in ATTRIBUTE.finditer(text):
            value = re.sub(r"\{%.*?%\}", TAG, match[1])
            value = re.sub(r"\{\{.*?\}\}", VALUE, value)
            classes = set[str]()
            for word in value.split():
                first, *others = word.split(TAG)
                if first.endswith("-"):  # the branches end the name
                    classes.update(first + other for other in others if other)
                else:
                    classes.update(part for part in (first, *others) if part)
            yield path, around, classes


def test_every_class_of_a_template_has_a_style_or_a_reason() -> None:
    styled = {name for text in sheets() for name in CLASS.findall(text)}
    scripts = "".join(p.read_text() for p in (ROOT / "static" / "js").glob("*.js"))

    used = {
        name: path
        for path, _, classes in elements()
        for name in classes
        if VALUE not in name and name not in scripts
    }

    assert {n: used[n] for n in used.keys() - styled - WITHOUT_STYLE.keys()} == {}
    assert len(used) > 400
    assert not WITHOUT_STYLE.keys() & styled


def test_a_modifier_has_a_style_on_the_element_that_has_it() -> None:
    rules = rules_of_modifiers()
    faults = []
    for path, text, classes in elements():
        is_open = any(VALUE in name for name in classes)
        for name in classes:
            if not name.startswith("is-") or VALUE in name or name in WITHOUT_STYLE:
                continue
            fits = (
                (is_open or beside <= classes) and all(one in text for one in around)
                for beside, around in rules.get(name, ())
            )
            if not any(fits):
                faults.append((path, " ".join(sorted(classes))))

    assert faults == [], faults


def test_the_path_of_a_page_is_quoted_where_it_is_an_address() -> None:
    """`request.path` is decoded: with a `%` or `?` in a name it is another address."""
    texts = {path: path.read_text() for path in (ROOT / "templates").rglob("*.html")}

    assert any("request.path|urlencode" in text for text in texts.values())
    assert [
        path.name for path, text in texts.items() if "request.path }}" in text
    ] == []
