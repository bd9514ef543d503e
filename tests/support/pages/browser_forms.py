"""The forms of a page, and what a browser sends of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

NOT_SENT: Final = frozenset({"submit", "button", "reset", "image", "file"})
BOXES: Final = frozenset({"checkbox", "radio"})


@dataclass(slots=True)
class Control:
    """A control of a form.

    Attributes:
        kind: Such as `text`, `checkbox`, `hidden` or `select`.
        is_on: Whether a box is checked; true for all others.
        options: The values of a list.
    """

    name: str
    kind: str
    value: str
    is_on: bool = True
    options: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ShownForm:
    """A form that is sent by POST; `action` is empty for the page's own address."""

    action: str
    controls: list[Control] = field(default_factory=list)

    def named(self, name: str) -> Control:
        """The control of a name that people see."""
        return next(
            one for one in self.controls if one.name == name and one.kind != "hidden"
        )

    def sent(self) -> dict[str, list[str]]:
        """The values that a browser sends, by name and in the order of the page."""
        values: dict[str, list[str]] = {}
        for one in self.controls:
            if one.is_on:
                values.setdefault(one.name, []).append(one.value)
        return values

    def clear(self, name: str) -> None:
        """Uncheck the boxes of a name, empty its field, or choose another option."""
        assert self.named(name).name == name
        for one in self.controls:
            if one.name == name and one.kind in BOXES:
                one.is_on = False
            elif one.name == name and one.options:
                one.value = next(text for text in one.options if text != one.value)
            elif one.name == name and one.kind != "hidden":
                one.value = ""


class _Forms(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[ShownForm] = []
        self._form: ShownForm | None = None
        self._control: Control | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        words = {name: value or "" for name, value in attrs}
        if tag == "form" and words.get("method") == "post":
            self._form = ShownForm(words.get("action", ""))
            self.found.append(self._form)
        if self._form is not None and "disabled" not in words:
            self._take(tag, words)

    def _take(self, tag: str, words: dict[str, str]) -> None:
        assert self._form is not None
        name, kind = words.get("name", ""), words.get("type", "text")
        if tag == "input" and name and kind not in NOT_SENT:
            is_box = kind in BOXES
            control = Control(
                name,
                kind,
                words.get("value", "on" if is_box else ""),
                is_on=not is_box or "checked" in words,
            )
            self._form.controls.append(control)
        elif tag in {"select", "textarea"} and name:
            self._control = Control(name, tag, "")
            self._form.controls.append(self._control)
        elif tag == "option" and self._control is not None:
            is_first = not self._control.options
            self._control.options.append(words.get("value", ""))
            if is_first or "selected" in words:
                self._control.value = words.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._control is not None and self._control.kind == "textarea":
            self._control.value += data

    def handle_endtag(self, tag: str) -> None:
        if tag in {"select", "textarea"}:
            self._control = None
        elif tag == "form":
            self._form = None


def forms_of(page: str) -> Iterator[ShownForm]:
    """Yield the forms of a page that are sent by POST."""
    parser = _Forms()
    parser.feed(page)
    yield from parser.found
