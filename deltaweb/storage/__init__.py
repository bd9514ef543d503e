"""Where the bytes of tables are: one store a kind of storage.

    location    from a path or URL to a store: `open_store`
    local       a folder of this machine
    remote      everything that fsspec reaches, by what is in `objects`
    data_path   paths of the log, decoded once and kept inside the table

A store that finds one file missing raises `FileNotFoundError`; every other fault is a
`DeltaError` with its own sentence, and never carries a credential.
"""
