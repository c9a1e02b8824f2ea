"""Runs stored on disk: blocks of them, their contents, and the arrays made from them."""
