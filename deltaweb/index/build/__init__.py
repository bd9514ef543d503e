"""From a log to an index folder: in full, or by the commits that came since.

Read in this order:

    full        the whole log, unless an incremental update can be made
    base_index  the index before, and what it has of commits that the log has lost
    update      the index before with the new commits: `log_since`, `new_commits`,
                `updated_files`
    finish      the end of both: source, history, summary, facts
"""
