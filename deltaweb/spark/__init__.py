"""The data pipeline on PySpark; only worker processes import this package.

Read in this order:

    java          which Java runtime Spark gets
    session       one SparkSession a process, built when it is first needed
    log_reader    a log as tasks read it: row groups and packs of commits
    segments      the files of a version, as the driver finds them
    tail_facts    what the driver learns of commits beside their files
    tail_layers   what tasks leave out because a later commit speaks of it
    held_layers   what tasks have read of commits, held for the next tasks
    shuffled_actions  commits too large for that, reconciled by a shuffle
    replay        the state of a version, its files in the executors
    index_files   the index of a large table, replayed by Spark
    checkpoint    a checkpoint by tasks, put in place by the driver
    checkpoint_tasks  what they read, shuffle and write for it
    checkpoint_progress  how far they are, and whether they shall stop
    column_reader one column as tasks read it
    statistics    the profile of a column
    table_changes the rows of two versions compared by tasks
    changed_rows  what these tasks read, shuffle and keep
    pipeline      one Spark job over many tables
    table_tasks   what its tasks do with them
    run_folder    how the tasks and the driver tell each other things
    spark_job     a Spark job that is watched and cancelled
    watched_work  one that is reported on, its faults named
    arrow_frames  DataFrames of Python functions over Arrow batches
    task_faults   errors of ours on their way from an executor to the driver

Many small tables share few tasks, whose work is the in-process engine's
(`deltaweb.index.build`); a log above `DELTAWEB_SPARK_REPLAY_BYTES` is read by all
executors.
"""
