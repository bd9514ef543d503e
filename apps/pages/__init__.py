"""What every page shares.

urls           a page and its machine forms from one line
responses      HTML, JSON or CSV from one view
errors         PageError, and how an error becomes an answer
middleware     request id, errors
navigation     the entries of the rail, registered by the apps
context        what base.html needs
figures        the look of all pictures
templatetags   icons, sizes, numbers, times
"""
