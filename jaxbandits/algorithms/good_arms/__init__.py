"""Rules for the arms above a threshold."""
