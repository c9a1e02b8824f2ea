"""Parameters that do best over a distribution of instances (`tune`), and hard instances (`adversary`)."""
