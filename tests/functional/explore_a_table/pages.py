"""Pages of a table as tests ask for them, and the work that they wait for."""

import csv
import io
import json

from django.test import Client

from deltaweb.web.jobs.models import Job
from deltaweb.web.tables.work.preview import PREVIEW
from deltaweb.web.tables.work.version_files import VERSION_FILES

TABLE = "/t/default/"
PAGES = ["", "data", "schema", "history", "files"]
HTMX = {"HX-Request": "true"}
RUN = {
    "tables.preview_rows": PREVIEW.work,
    "tables.list_version_files": VERSION_FILES.work,
}


def work() -> None:
    """Do what waits, as a worker does."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        RUN[job.kind](job_id=str(job.id))


def text_of(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code == 200, response.content[:500]
    return response.content.decode()


def json_of(client: Client, path: str, status: int = 200) -> dict[str, object]:
    response = client.get(path)
    assert response.status_code == status
    return dict(json.loads(response.content))


def csv_of(client: Client, path: str) -> list[list[str]]:
    response = client.get(path)
    assert response.status_code == 200
    text = b"".join(response).decode()
    return list(csv.reader(io.StringIO(text)))
