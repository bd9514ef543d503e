"""What the catalogue's query strings and forms may say: shape only, no database."""

from collections.abc import Iterable
from typing import Any, cast

from django import forms

from deltaweb.delta.writing.checkpoint.request import MAX_PARTS
from deltaweb.web.pages.lists.fields import SortField, WordField
from deltaweb.web.pages.lists.sorting import Column
from deltaweb.web.tables.models.schedules import schedule_choices
from deltaweb.web.tables.storage.locations import MAX_LENGTH as MAX_LOCATION_LENGTH

MAX_PAGE = 1_000_000
COLUMNS = (
    Column(key="name", label="Table", word="Name"),
    Column(key="commit", label="Last commit", descends=True),
    Column(label="Versions", css="dw-only-w"),
    Column(key="rows", label="Rows", descends=True, css="dw-r dw-only-w"),
    Column(key="size", label="Size", descends=True, css="dw-r"),
    Column(key="files", label="Files", descends=True, is_shown=False),
    Column(label="30 days", css="dw-only-w"),
    Column(key="state", label="State"),
)
STATUSES = {
    "indexed": "indexed",
    "new": "not indexed yet",
    "unsupported": "metadata only",
    "behind": "behind",
    "unreachable": "unreachable",
    "failed": "failed",
}


class CatalogueForm(forms.Form):
    """The filter, order and page of the catalogue."""

    q = forms.CharField(max_length=200, required=False)
    namespace = forms.CharField(max_length=200, required=False)
    status = WordField(STATUSES)
    mark = forms.CharField(max_length=50, required=False)
    feature = forms.CharField(max_length=200, required=False)
    writer = forms.CharField(max_length=300, required=False)
    sort = SortField(COLUMNS)
    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)


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
    name = forms.CharField(max_length=401, required=False)
    location = forms.CharField(max_length=MAX_LOCATION_LENGTH, required=False)


class RegisterForm(forms.Form):
    """A table to be checked, and then to be registered."""

    location = forms.CharField(
        max_length=MAX_LOCATION_LENGTH,
        error_messages={"required": "Say where the table is."},
    )
    name = forms.CharField(max_length=401, required=False)
    description = forms.CharField(max_length=10_000, required=False)
    restricted = forms.BooleanField(required=False)
    check = forms.UUIDField(required=False)


class SettingsForm(forms.Form):
    """What people may change of a table; no schedule leaves it the one that it has."""

    name = forms.CharField(
        max_length=401, error_messages={"required": "A table needs a name."}
    )
    description = forms.CharField(max_length=10_000, required=False)
    refresh = forms.ChoiceField(
        choices=schedule_choices,
        required=False,
        error_messages={"invalid_choice": "Choose one of the listed schedules."},
    )
    restricted = forms.BooleanField(required=False)


class RemoveForm(forms.Form):
    """The name again, so that nobody removes a table by a slip."""

    confirm = forms.CharField(
        max_length=401,
        error_messages={"required": "Type the table's name to remove it."},
    )


class CheckpointForm(forms.Form):
    """Into how many files a checkpoint goes; left empty it is a single one."""

    parts = forms.IntegerField(
        min_value=1,
        max_value=MAX_PARTS,
        required=False,
        error_messages={"invalid": f"Give a whole number from 1 to {MAX_PARTS}."},
    )


class CleanupForm(forms.Form):
    """The job whose list somebody has seen and agrees to; none makes a list."""

    seen = forms.UUIDField(required=False)
