"""The shape of the query strings of job pages."""

from django import forms

from apps.jobs.models import Job

ACTIVE = "ACTIVE"
STATES = [(ACTIVE, "active"), *Job.State.choices]


class JobListForm(forms.Form):
    """Which jobs to list, and which page of them."""

    state = forms.ChoiceField(choices=STATES, required=False)
    kind = forms.CharField(max_length=64, required=False)
    page = forms.IntegerField(min_value=1, max_value=1_000_000, required=False)
