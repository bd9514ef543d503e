#!/usr/bin/env python
"""Django's command line for this project; `deltaweb` has the project's own commands."""

from deltaweb.__main__ import manage

if __name__ == "__main__":
    manage()
