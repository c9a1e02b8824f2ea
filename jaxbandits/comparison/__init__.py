"""A comparison of every suitable algorithm on one problem, with the bounds of theory."""
