"""Times of a file that is imported, by the clocks of the zone that somebody gives."""

from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.jobs.models import Job

Work = Callable[[], Job]

pytestmark = pytest.mark.django_db


def test_times_that_clocks_leave_out_are_counted_before_they_move(editor, work, lake):
    brought = SimpleUploadedFile("a.csv", b"at\n2024-03-10 02:30\n2024-07-10 12:00\n")
    zone = {"time_zone": "America/New_York"}
    values = {"name": "times", "location": f"{lake}/times", **zone}

    asked = editor.post("/tables/new/import", {**values, "file": brought})
    work()

    page = editor.get(asked.headers["Location"]).content.decode()
    assert "1 time does not exist in America/New_York, moved forward by 1 hour." in page
