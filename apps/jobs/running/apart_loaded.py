"""Loads what jobs that run apart need, into the process that theirs are copies of."""

from apps.jobs.running.apart_process import load

load(
    "apps.jobs.running.tracking",
    "pyarrow.compute",
    "pyarrow.parquet",
    "deltaweb.table",
    "deltaweb.delta.scan.rows",
    "deltaweb.expressions.compiler",
    "deltaweb.writer.rewrite.run",
)
