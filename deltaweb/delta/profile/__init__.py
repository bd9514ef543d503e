"""The profile of a column: what its values look like, at one version.

    column      the column, and its values as both engines add them up
    described   what an engine has added up, in text
    in_process  adds up exactly what fits this process

`deltaweb.spark.statistics` adds up what does not, in sketches.
"""
