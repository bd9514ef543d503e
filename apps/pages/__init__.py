"""The frames and parts that every page shares.

`urls`, `responses` and `page_json` make a page, its JSON and its CSV from one
dataclass. `registry` is how an app adds to the pages of an app below it.
"""
