"""Which of Django's checks each process of an installation makes as it starts.

Those of the whole site load every page: `manage.py check` makes them, and the process
that serves pages. Workers and the clock would be a third larger by them and start in
twice the time.
"""

SETTINGS = "settings"  # a tag: what variables say that allows nothing
AT_START = [SETTINGS]
