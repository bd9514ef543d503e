"""From a log to an index folder: in full, or by the commits that came since.

Read in this order:

    full              the whole log, unless an incremental update can be made
    update            the index before with the new commits: `base_index`, `log_since`,
                      `new_commits`, `updated_files`
    archived_history  what the index before has of commits that the log has lost
    finish            the end of both: source, history, summary, facts
"""
