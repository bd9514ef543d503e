"""The forms of shares and of the tables in them."""

import csv

from django import forms

from apps.pages.request.changes import ChangeForm
from apps.sharing.models import MAX_NAME_LENGTH
from deltaweb.delta.protocol.column_path import split_names

MAX_PAGE = 1_000_000
MAX_COMMENT_LENGTH = 10_000
MAX_FILTER_LENGTH = 10_000
# Longer than a name may be, so that the rule of names speaks and not the field.
MAX_TEXT_LENGTH = MAX_NAME_LENGTH * 4


def column_names(text: str) -> list[str]:
    """Return the names of a list as `a,b`, some of them in quotes or backticks.

    Blank lines are left out. A blank name between commas stays, to be refused.
    """
    listed = ",".join(line for line in text.splitlines() if line.strip())
    if "`" in listed:
        return split_names(listed)
    rows = csv.reader([listed], skipinitialspace=True)
    return [part.strip() for row in rows for part in row]


class ListForm(forms.Form):
    """The search and page of a list."""

    q = forms.CharField(max_length=200, required=False)
    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)


class OfferForm(ChangeForm):
    """What of a table is shared."""

    with_history = forms.BooleanField(required=False)
    start_version = forms.IntegerField(
        required=False, error_messages={"invalid": "Write a version: a whole number."}
    )
    condition = forms.CharField(max_length=MAX_FILTER_LENGTH, required=False)
    columns = forms.CharField(max_length=MAX_FILTER_LENGTH, required=False)

    def clean_condition(self) -> str:
        """Take the name that scripts have for it as well."""
        old = self.data.get(self.add_prefix("partition_filter"), "")
        return str(self.cleaned_data["condition"] or old)

    def is_sent(self, name: str) -> bool:
        """Whether the form was sent with a field; a condition has two names."""
        other = name == "condition" and super().is_sent("partition_filter")
        return other or super().is_sent(name)

    def clean_columns(self) -> list[str]:
        """Return the names."""
        return column_names(self.cleaned_data["columns"])


class SharedTableForm(OfferForm):
    """What of a table is shared, and its comment."""

    with_directory = forms.BooleanField(required=False)
    comment = forms.CharField(max_length=MAX_COMMENT_LENGTH, required=False)


class TableDraftForm(OfferForm):
    """A table of a share that is being made: its names there, and what of it."""

    schema = forms.CharField(
        max_length=MAX_TEXT_LENGTH,
        error_messages={"required": "Give the schema under which recipients find it."},
    )
    name = forms.CharField(
        max_length=MAX_TEXT_LENGTH,
        error_messages={"required": "Give the name under which recipients find it."},
    )


class AddTableForm(TableDraftForm):
    """A registered table that is to be put into a share."""

    with_directory = forms.BooleanField(required=False)
    table = forms.CharField(
        max_length=401, error_messages={"required": "Choose a table to share."}
    )
    comment = forms.CharField(max_length=MAX_COMMENT_LENGTH, required=False)


class AddSchemaForm(forms.Form):
    """A namespace that is to be shared whole; without a name, by its own."""

    namespace = forms.CharField(
        max_length=200, strip=True, error_messages={"required": "Name a namespace."}
    )
    schema = forms.CharField(max_length=MAX_TEXT_LENGTH, required=False, strip=True)
    with_history = forms.BooleanField(required=False)


class GrantForm(forms.Form):
    """A recipient who is to read a share, or no longer."""

    recipient = forms.CharField(
        max_length=MAX_TEXT_LENGTH, error_messages={"required": "Choose a recipient."}
    )
