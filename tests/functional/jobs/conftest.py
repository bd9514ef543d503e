"""An editor, and a viewer who sees one of two subjects."""

import pytest
from django.test import Client

from deltaweb.web.accounts.models import User
from deltaweb.web.jobs import visibility
from deltaweb.web.pages.registry import Registry
from tests.functional.jobs.jobs_at_work import SEEN
from tests.support.pages.factories import new_user


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(new_user("eve", role=User.Role.EDITOR))
    return client


@pytest.fixture
def viewer() -> Client:
    client = Client()
    client.force_login(new_user("vera"))
    return client


@pytest.fixture(autouse=True)
def subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two subjects, of which viewers see one."""
    link = visibility.SubjectLink("default.orders", "/t/default/orders/")
    monkeypatch.setattr(visibility, "subjects_of_jobs", Registry())
    visibility.subjects_of_jobs.register(
        visibility.Subjects(
            visible_ids=lambda _: [SEEN],
            links=lambda ids: {SEEN: link} if SEEN in ids else {},
        )
    )
