#!/usr/bin/env python
"""Django's command line for this project; `deltaweb` is the same when installed."""

from deltaweb.__main__ import main

if __name__ == "__main__":
    main()
