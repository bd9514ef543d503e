"""Small files become large ones, or rows are laid out by columns."""
