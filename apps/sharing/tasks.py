"""What Celery calls by the clock: shares whose tables have new commits."""

from celery import shared_task
from django.utils import timezone

from deltaweb.web.sharing.grants.preparing import request_due_preparations


@shared_task(name="sharing.prepare_due", ignore_result=True)
def prepare_due(**_: object) -> None:
    """Queue what is to be rewritten of shares; safe to repeat."""
    request_due_preparations(now=timezone.now())
