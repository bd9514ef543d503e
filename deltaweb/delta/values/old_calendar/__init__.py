"""Days and times that Spark wrote in the old calendar.

Read the modules in this order:

    calendar  what of a file is in it, and its values in the new one
    clocks    how the clocks of its writer's zone went
"""
