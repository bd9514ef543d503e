"""Conformance tables and Parquet files of other writers, and what those say of them.

`make recorded` writes all of them again; `tests.support.golden.recorded` unpacks them.
"""
