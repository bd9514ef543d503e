"""The sharing server: shares, recipients, tokens, and the protocol over HTTP.

Read `models` first, then `access` (who may read what) and `answers` (the responses of
the protocol). The values of the protocol are in `deltaweb.sharing`, and signed URLs in
`deltaweb.storage`.
"""
