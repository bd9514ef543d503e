"""Fields of query strings: an order, and a choice by its value or its word."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from django import forms

from apps.pages.lists.days import EXAMPLE, parse_day
from apps.pages.lists.sorting import DESCENDING, Column, sort_choices


class SortField(forms.ChoiceField):
    """The order of a list; `hint` names the orders that there are."""

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__(choices=sort_choices(columns), required=False)
        keys = ", ".join(column.key for column in columns if column.key)
        self.hint = f"Order by one of {keys}; with {DESCENDING} in front, descending."


class DayField(forms.CharField):
    """A day, typed as 2026-11-20 or as pages write it; the cleaned value is a date."""

    hint = f"Write a day such as 2026-11-20 or {EXAMPLE}."

    def __init__(self) -> None:
        super().__init__(required=False, max_length=40)

    def clean(self, value: Any) -> date | None:  # noqa: ANN401 (Django's own)
        """Return the day; None for an empty text."""
        text = super().clean(value)
        try:
            return parse_day(text) if text else None
        except ValueError:
            message = "is not a day."
            raise forms.ValidationError(message) from None


class WordField(forms.ChoiceField):
    """One of some values, by the value or by its word on the page.

    Case does not matter, and a blank may be written as a hyphen or an underscore. The
    cleaned value is the one of the choices; `hint` names their words.
    """

    def __init__(self, choices: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
        pairs = list(choices.items() if isinstance(choices, Mapping) else choices)
        super().__init__(choices=pairs, required=False)
        self.hint = f"Use one of {', '.join(word for _, word in pairs)}."
        # Values come last: a word never takes the meaning of a value from it.
        spellings = [(word, value) for value, word in pairs]
        spellings += [(value, value) for value, _ in pairs]
        values: dict[str, str] = {}
        values.update((_plain(text), value) for text, value in spellings)
        self._values = values

    def to_python(self, value: Any) -> str:  # noqa: ANN401 (Django's own)
        """Return the value that a word or a value stands for."""
        text = str(super().to_python(value))
        return self._values.get(_plain(text), text)


def hints_of(form: forms.Form) -> str:
    """Return what the fields say that could not be read."""
    hints = (getattr(form.fields.get(name), "hint", "") for name in form.errors)
    return " ".join(hint for hint in hints if hint)


def _plain(text: str) -> str:
    return text.strip().casefold().replace("_", " ").replace("-", " ")
