"""The history of a table as an index holds it: a row a commit, with what held after it.

Read in this order:

    commit_part     a batch of commits: rows, changes, file actions
    commit_files    their file actions as lifetimes take them
    sentences       what each commit did, in words; `definition_sentences` of tables
    commit_facts    what its metrics and parameters say, however they are spelled
    stored_values   texts that every database takes
    commit_reading  parts in shares; `commit_share` is what one process does of them
    commit_helper   a second process for them; `commit_process` is its beginning
    commit_rows     the parts put together, oldest first
    run_actions     the file actions of the versions that a log can build
    lifetimes       how long each file belonged to the table
    version_totals  files, bytes and rows after each commit
    readability     which versions can still be read
"""
