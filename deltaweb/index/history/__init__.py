"""The history of a table as an index holds it: a row a commit, with what held after it.

Read in this order:

    commit_part     a batch of commits: rows, changes, file actions
    commit_files    their file actions as lifetimes take them
    sentences       what each commit did, in words
    stored_values   texts that every database takes
    pool            what reads commits: this process, and a second one for many
    commit_rows     the parts put together, oldest first
    lifetimes       how long each file belonged to the table
    version_totals  files, bytes and rows after each commit
    reader          the whole of it, from the commits that a log holds
    readability     which versions can still be read
"""
