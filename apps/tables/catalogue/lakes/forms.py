"""What the pages of lakes may be asked: shape only, no database."""

from django import forms

from deltaweb.web.tables.catalogue.lakes.services import LAKE_SCHEDULES
from deltaweb.web.tables.models.schedules import SCHEDULES, schedule_words
from deltaweb.web.tables.storage.locations import MAX_LENGTH as MAX_LOCATION_LENGTH

MAX_PAGE = 1_000_000


def lake_schedules() -> list[tuple[str, str]]:
    """Return the name of each schedule with the words that a list of them shows."""
    return [
        (name, schedule_words(SCHEDULES[name]).capitalize()) for name in LAKE_SCHEDULES
    ]


class LakeListForm(forms.Form):
    """The page of the list."""

    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)


class LakeRuleForm(forms.Form):
    """How the tables of a lake are named, and how often it is scanned."""

    namespace = forms.CharField(max_length=200, required=False)
    schedule = forms.ChoiceField(
        choices=lake_schedules,
        required=False,
        initial="1h",
        error_messages={"invalid_choice": "Choose one of the listed schedules."},
    )


class ScanForm(LakeRuleForm):
    """A folder or URL to be scanned for tables."""

    root = forms.CharField(
        max_length=MAX_LOCATION_LENGTH,
        error_messages={"required": "Give a folder or URL to scan."},
    )
