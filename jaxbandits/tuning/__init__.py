"""Parameters that do best over a distribution of instances (`tune`), and instances that are hard (`adversary`)."""
