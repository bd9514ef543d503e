"""What every page shares.

urls           a page and its machine forms from one line
responses      HTML, JSON or CSV from one view
page_json      the JSON form of a page, from its dataclass
errors         PageError, and how an error becomes an answer
views          errors of Django in our layout, and the manual
frame          what apps add to the rail and to the first page, as a registry has it
request/       what a request passes, and what base.html needs
lists/         filters, order, links between pages, lines of CSV
figures        the look of all pictures
templatetags/  icons, sizes, numbers, times
command        the base of all commands
"""
