"""The wizard: a share that is drafted in steps, reviewed, and made."""
