"""What the files of a version really hold, from the sums of their footers.

costs   what that costs readers, in bytes and sentences
inside  all of it, as the page and the command show it
"""
