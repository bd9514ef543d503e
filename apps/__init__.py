"""The Django apps of deltaweb: thin shells around the packages of `deltaweb`.

    pages      what every page shares: formats, paging, errors, template tags
    accounts   users, roles, sign-in links, API keys
    jobs       runs of background work
    tables     the catalogue and its index
    explorer   read-only pages over one table

Each app uses a subset of the same file names; imports go upward in this list only.
"""
