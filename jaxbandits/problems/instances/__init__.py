"""Named instances of papers, and spreads of means that the field compares on."""
