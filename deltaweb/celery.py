"""The Celery application; workers and beat start from it."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")

app = Celery("deltaweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
