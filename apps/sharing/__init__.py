"""Shares, the recipients they are granted to, and the protocol they are read by.

Read in this order:

    models       shares, recipients, grants, tokens, activation links
    errors       what can be refused, and the wording of each
    access       who a caller is, and what it may read
    api, answers the protocol over HTTP, and what a call of it is answered with
    activity     the record of calls and changes; `usage` counts for all pages
    issuing      a token's life: issue, hand out, activate, rotate, end, revoke
    recipients   recipients, their pages, and what is granted to them
    shares       shares, the tables in them, and their pages
    drafts       a share as the wizard drafts it

Each change is reported in its transaction (`apps.pages.actions`), without a
secret. What the protocol itself says is in `deltaweb.sharing`; URLs of files are signed
in `deltaweb.storage`.
"""
