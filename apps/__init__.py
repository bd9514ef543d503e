"""The Django apps of deltaweb.

They are thin: `deltaweb` does the work, and an app adds models, pages, commands and
REST endpoints. `pages` is the lowest app and `api` the highest; imports go downwards
only.
"""
