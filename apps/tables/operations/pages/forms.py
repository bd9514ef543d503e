"""The form of a page, made of the parameters of its operation."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, get_args, get_type_hints

from django import forms

from apps.tables.operations.parameters import ARGUMENT, Argument, Line

MAX_TEXT_LENGTH: Final = 10_000
WRONG: Final = ("invalid", "required", "min_value", "max_value")


def form_of(kind: type) -> type[forms.Form]:
    """Return the form of the parameters that have a line of it, in their order.

    Its fields bring their words and their look: `_form.html` shows any such form.
    """
    hints = get_type_hints(kind)
    found: dict[str, Any] = {}
    for one in fields(kind):
        argument: Argument | None = one.metadata.get(ARGUMENT)
        if argument is not None and argument.line is not None:
            found[one.name] = _field(hints[one.name], argument.line)
    return type(f"{kind.__name__}Form", (forms.Form,), found)


def _field(hint: Any, line: Line) -> forms.Field:  # noqa: ANN401 (any type)
    kinds = {one for one in (hint, *get_args(hint)) if one in FIELDS}
    return FIELDS[kinds.pop()](line)


def _whole_number(line: Line) -> forms.Field:
    return forms.IntegerField(
        min_value=line.least,
        max_value=line.most,
        widget=forms.NumberInput(attrs=_look(line)),
        error_messages=dict.fromkeys(WRONG, line.wrong) if line.wrong else {},
        **_words(line),
    )


def _text(line: Line) -> forms.Field:
    return forms.CharField(
        max_length=line.most or MAX_TEXT_LENGTH,
        widget=forms.TextInput(attrs=_look(line)),
        **_words(line),
    )


def _words(line: Line) -> dict[str, Any]:
    return {
        "label": line.label,
        "help_text": line.help,
        "required": line.is_needed,
    }


def _look(line: Line) -> dict[str, str]:
    return {"class": "dw-input", "placeholder": line.placeholder, "autocomplete": "off"}


FIELDS: Final[Mapping[Any, Callable[[Line], forms.Field]]] = {
    int: _whole_number,
    str: _text,
}
