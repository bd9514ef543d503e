"""Updates: a field that is not sent keeps its value, and null removes it.

A default for a missing field would make changes that were not asked for: an update of a
comment would remove a condition. So a missing field is `UNCHANGED` in
the body of a call, on a command line, in a form, and in the service that all of them
call. None, or an empty text, removes a value.
"""

from enum import Enum
from typing import Any, Final, TypeVar

from django import forms

T = TypeVar("T")


class Unchanged(Enum):
    """The type of `UNCHANGED`."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
"""The value of a field that was not sent."""
NOT_CHECKED: Final = "false"
"""The value that a check box sends while it is not checked."""


def value_of(sent: T | Unchanged | None, old: T, *, removed: T) -> T:
    """Return the value of a field after an update.

    Args:
        sent: The new value; `UNCHANGED` if the field was not sent, None to remove it.
        old: The value before the update.
        removed: The value of a field that has none.
    """
    if isinstance(sent, Unchanged):
        return old
    return removed if sent is None else sent


def sent_fields(**fields: object) -> dict[str, Any]:
    """Return the fields that were sent."""
    return {name: one for name, one in fields.items() if one is not UNCHANGED}


class ChangeForm(forms.Form):
    """A form of an update.

    A browser leaves out a check box that is not checked, so the page of such a form
    has a hidden `NOT_CHECKED` before each (`templates/_check_box.html`).

    Attributes:
        status: The status of the page that shows it again with an error.
    """

    status: int = 422

    def is_sent(self, name: str) -> bool:
        """Whether the form was sent with a field."""
        return self.add_prefix(name) in self.data

    def sent(self, name: str, value: T) -> T | Unchanged:
        """Return a value that was read from a field, if that field was sent."""
        return value if self.is_sent(name) else UNCHANGED

    @property
    def changes(self) -> dict[str, Any]:
        """The value of each field, which is `UNCHANGED` if it was not sent."""
        return {name: self.sent(name, one) for name, one in self.cleaned_data.items()}


class CheckBoxesField(forms.MultipleChoiceField):
    """Check boxes of one name; an empty hidden value states that none is checked."""

    def to_python(self, value: Any) -> list[str]:  # noqa: ANN401 (Django's own)
        """Return the values of the boxes that are checked."""
        return [one for one in super().to_python(value) if one]
