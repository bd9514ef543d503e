"""The dashboard and the alert rules name metrics and labels that there are."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from yaml import safe_load

from apps.jobs.models import Job
from apps.notices.events import EventSubject, emit
from apps.notices.kinds.table_version import NEW_VERSION
from apps.operate.metrics import exposition
from tests.support.pages.factories import new_table
from tests.unit.apps.notices.events.test_emitting import version

pytestmark = pytest.mark.django_db
DOCKER = Path(__file__).resolve().parents[3] / "docker"
METRIC = re.compile(r"\bdeltaweb_\w+")
LABEL = re.compile(r"\bby \(([\w, ]+)\)|(\w+)=\"")


def expressions() -> list[str]:
    panels = json.loads((DOCKER / "grafana-dashboard.json").read_text())["panels"]
    rules = safe_load((DOCKER / "prometheus-alerts.yml").read_text())["groups"][0]
    drawn = [one["expr"] for panel in panels for one in panel["targets"]]
    return [*drawn, *(rule["expr"] for rule in rules["rules"])]


def test_each_metric_and_label_exists() -> None:
    now = timezone.now()
    orders = new_table("orders")
    subject = EventSubject("table", str(orders.id), orders.full_name)
    emit(NEW_VERSION, subject, version(3), now=now, table_id=orders.id)
    for state in ("QUEUED", "FAILED"):
        Job.objects.create(
            kind="x", title="x", state=state, created_at=now, finished_at=now
        )
    Client().get("/delta-sharing/shares")
    exposition.collector.forget()
    text = Client().get("/metrics").content.decode()
    labels: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            labels[one.name] |= one.labels.keys()

    found = expressions()
    assert len(found) > 15
    for expression in found:
        names = METRIC.findall(expression)
        assert names
        assert set(names) <= labels.keys(), expression
        used = {
            label.strip()
            for by, equal in LABEL.findall(expression)
            for label in (by or equal).split(",")
        }
        known = set().union(*(labels[name] for name in names))
        assert used <= known, expression


def test_each_alert_says_what_to_do() -> None:
    rules = safe_load((DOCKER / "prometheus-alerts.yml").read_text())["groups"][0]

    for rule in rules["rules"]:
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["annotations"]["description"].endswith(".")
        assert rule["labels"]["severity"] in {"warning", "critical"}
