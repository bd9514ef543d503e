"""Loads what jobs that run apart need, into the process that theirs are copies of."""

from apps.jobs.running.apart_process import load

load(
    "apps.jobs.broker.waking:celery_application",  # a job may ask for another
    "apps.jobs.kinds:all_kinds",
    "apps.jobs.running.tracking",
    "apps.news.channels.choice:load",
    "django.db.models.sql.compiler",
    "numpy.ma",
    "pyarrow.acero",
    "pyarrow.compute",
    "pyarrow.parquet",
    "deltaweb.storage.local",
    "deltaweb.table",
    "deltaweb.delta.changes",
    "deltaweb.delta.feed.row_diff",
    "deltaweb.delta.scan.rows",
    "deltaweb.delta.scan.variant_parts",
    "deltaweb.expressions.compiler",
    "deltaweb.parquet.inspection",
    "deltaweb.writer.append",
    "deltaweb.writer.rewrite.run",
)
