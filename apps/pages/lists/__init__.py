"""What pages of lists are made of: filters, order, links between them, CSV lines."""
