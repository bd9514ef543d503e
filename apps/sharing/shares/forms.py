"""The forms of shares and of the tables in them."""

import csv

from django import forms

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
