"""What the catalogue's query strings and forms may say: shape only, no database."""

from collections.abc import Iterable
from typing import Any, cast

from django import forms

from apps.tables.catalogue.names import MAX_NAME_LENGTH
from apps.tables.storage.locations import MAX_LENGTH as MAX_LOCATION_LENGTH

MAX_PAGE = 1_000_000
STATUSES = {
    "indexed": "indexed",
    "new": "not indexed yet",
    "unsupported": "metadata only",
    "behind": "behind",
    "unreachable": "unreachable",
    "failed": "failed",
}


class SearchForm(forms.Form):
    """What is looked for, among which of `kinds`, and the page."""

    q = forms.CharField(max_length=200, required=False)
    kind = forms.ChoiceField(required=False)
    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)

    def __init__(self, *args: Any, kinds: Iterable[str], **kwargs: Any) -> None:  # noqa: ANN401 (Django's own)
        super().__init__(*args, **kwargs)
        kind = cast("forms.ChoiceField", self.fields["kind"])
        kind.choices = [(value, value) for value in kinds]


class RegisterQueryForm(forms.Form):
    """What the register page was opened with."""

    check = forms.UUIDField(required=False)
    name = forms.CharField(max_length=MAX_NAME_LENGTH, required=False)
    location = forms.CharField(max_length=MAX_LOCATION_LENGTH, required=False)


class CheckForm(forms.Form):
    """A location that is to be checked, and the name of its table, if it has one."""

    location = forms.CharField(
        max_length=MAX_LOCATION_LENGTH,
        error_messages={"required": "Give the location of the table."},
    )
    name = forms.CharField(max_length=MAX_NAME_LENGTH, required=False)
