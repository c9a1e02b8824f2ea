"""What counts of pulls made so far say: which arm is best now, how sure that is, and what to do next."""
