"""Rules that pull the surviving arms in turn, and drop the worst."""
