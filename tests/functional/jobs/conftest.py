"""Two subjects of jobs, of which viewers see one."""

import pytest
from django.db.models import Q

from apps.jobs import visibility
from apps.pages.registry import Registry
from tests.functional.jobs.jobs_at_work import SEEN


@pytest.fixture(autouse=True)
def subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two subjects, of which viewers see one."""
    link = visibility.SubjectLink("default.orders", "/t/default/orders/")
    monkeypatch.setattr(visibility, "subjects_of_jobs", Registry())
    visibility.subjects_of_jobs.register(
        visibility.Subjects(
            seen_by=lambda _: Q(subject_id=SEEN),
            editable_by=lambda user: Q(subject_id=SEEN if user.is_editor else None),
            links=lambda ids: {SEEN: link} if SEEN in ids else {},
        )
    )
