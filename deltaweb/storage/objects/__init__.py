"""What object stores are asked beneath the store of a table.

driver     opens the driver of fsspec; its faults as errors of ours
errors     what stores refuse
listing    the objects of a folder, from a name on and by pages
creation   whether a server creates without replacing
scan       the tables below a URL
"""
