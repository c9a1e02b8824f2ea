"""Runs that are kept on disk: blocks of them, what they hold, and the arrays made from them."""
