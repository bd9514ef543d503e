"""The columns of a version: their tree, their addresses and what files say of them."""
