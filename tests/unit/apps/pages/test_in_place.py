"""The script that puts pages in place of each other knows every part of the site."""

import re
from collections.abc import Iterator

from django.contrib.staticfiles import finders
from django.urls import URLPattern, URLResolver, get_resolver

# What is not in the frame of pages, or is handed over once.
ELSEWHERE = {
    "activate",
    "api",
    "confirm-address",
    "delta-sharing",
    "help",
    "iceberg",
    "news",
    "portal",
    "reminders.atom",
    "sign-in",
    "sign-out",
}
MACHINE_FORM = re.compile(r"\.(json|csv)$")


def first_parts() -> set[str]:
    """Return how the addresses of the site begin."""

    def walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[str]:
        for pattern in patterns:
            address = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, address)
            elif not MACHINE_FORM.search(address):
                yield address.removeprefix("^").partition("/")[0]

    return {*walk(get_resolver().url_patterns, "")}


def test_each_part_of_the_site_is_taken_in_place_or_known_not_to_be() -> None:
    path = finders.find("js/in_place.js")
    assert isinstance(path, str)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 (a found name)
        pages = re.search(r"PAGES = /\^\(([a-z|-]+)\)\?", file.read())

    assert pages is not None
    assert {*pages[1].split("|"), "", *ELSEWHERE} == first_parts()
