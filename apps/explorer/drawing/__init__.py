"""What charts of several pages are made of: figure, axes, cells."""
