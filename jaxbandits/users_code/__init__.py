"""What code of the user's own a run depends on, and whether that has changed; knows no simulation."""
