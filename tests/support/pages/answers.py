"""Answers to pages, as tests ask for them, and the job that they wait for."""

import csv
import io
import json
from typing import Any

from django.test import Client

from apps.jobs import kinds
from apps.jobs.models import Job


def text_of(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code == 200, response.content[:500]
    return response.content.decode()


def json_of(client: Client, path: str, status: int = 200) -> dict[str, Any]:
    response = client.get(path)
    assert response.status_code == status, response.content[:500]
    return dict(json.loads(response.content))


def csv_of(client: Client, path: str) -> list[list[str]]:
    response = client.get(path)
    assert response.status_code == 200
    return list(csv.reader(io.StringIO(b"".join(response).decode())))


def newest_job_done() -> Job:
    """Do the newest job but those of an index here, as a worker does."""
    job = Job.objects.exclude(kind="tables.index_log").latest("created_at")
    kinds.all_kinds()[job.kind].work(job.id)
    job.refresh_from_db()
    return job
