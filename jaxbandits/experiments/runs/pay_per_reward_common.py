"""What the runs on pay-per-reward share."""

__all__ = ["DELTA", "EPSILON", "MAB", "RACE", "UNION"]

EPSILON, DELTA = 0.1, 0.1
MAB, RACE, UNION = "MAB-PPR, practical", "Bernstein race", "union bound, Hoeffding"
