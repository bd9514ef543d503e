"""The option that writes down who is answered what."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-access", action="store_true", help="write access.txt")
