"""The shape of the query strings of job pages."""

from django import forms

from deltaweb.web.jobs.models import Job
from deltaweb.web.pages.lists.fields import SortField, WordField
from deltaweb.web.pages.lists.sorting import Column

ACTIVE = "ACTIVE"
STATES = [(ACTIVE, "active"), *Job.State.choices]
COLUMNS = (
    Column(key="job", label="Job"),
    Column(key="state", label="State"),
    Column(key="by", label="By", css="dw-only-w"),
    Column(key="asked", label="Asked for", descends=True),
    Column(key="finished", label="Finished", descends=True),
)


class JobListForm(forms.Form):
    """Which jobs to list, in which order, and which page of them.

    A kind is the name of a task or what its jobs do, in words.
    """

    q = forms.CharField(max_length=200, required=False)
    state = WordField(STATES)
    kind = forms.CharField(max_length=64, required=False)
    sort = SortField(COLUMNS)
    page = forms.IntegerField(min_value=1, max_value=1_000_000, required=False)
