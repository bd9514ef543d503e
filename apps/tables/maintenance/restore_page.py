"""The page that brings a version of before back."""

from typing import Final

from django import forms

from apps.tables.maintenance.operation_page import OperationPage
from apps.tables.operations.restore import RESTORE

MAX_VERSION: Final = 2**63 - 1


class RestoreForm(forms.Form):
    """Which version comes back."""

    version = forms.IntegerField(
        min_value=0,
        max_value=MAX_VERSION,
        error_messages={"required": "Say which version.", "invalid": "Give a number."},
    )


RESTORE_PAGE: Final = OperationPage(
    operation=RESTORE,
    form=RestoreForm,
    heading="Restore a version",
    about="The files of that version come back, and files that came later go. The "
    "table gets a new version; nothing is deleted from storage, and nothing of the "
    "history.",
    icon="rotate",
    failed="The version was not restored",
)
