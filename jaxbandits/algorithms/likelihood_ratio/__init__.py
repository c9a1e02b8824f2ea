"""Rules that stop by a generalised likelihood ratio test: Track-and-Stop, top-two rules."""
