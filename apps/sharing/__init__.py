"""Shares, the recipients they are granted to, and the protocol they are read by.

Read in this order:

    models      shares, recipients, grants, tokens, activation links
    errors      what can be refused, and the wording of each
    services    what people ask for: to share, to grant, to hand over, to rotate
    selectors   what pages show and who may come in; `usage` counts for all of them
    answers     what a call of the protocol is answered with
    api         the protocol over HTTP: tokens, limits, errors, the record of calls
    views       the pages of administrators, and the activation page of recipients

What the protocol itself says is in `deltaweb.sharing`; URLs of files are signed in
`deltaweb.storage`.
"""
