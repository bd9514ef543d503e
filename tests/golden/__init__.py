"""Golden files: the names, types and sentences that users and scripts rely on.

`python -m tests.golden` writes them again. A change of one of these files is a change
for users: CHANGELOG says so. Sentences are in a file of their own.
"""
