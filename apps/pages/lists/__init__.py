"""The parts of list pages: filters, order, paging links and CSV lines."""
