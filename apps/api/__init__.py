"""The REST API over pages and services.

Reads come from the JSON form of pages, and writes from the services that pages and
commands call. Read `endpoint`, `shapes` and `pages` first; `openapi` describes all of
it.
"""
