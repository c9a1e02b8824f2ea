"""Several bandits with one budget.

Gabillon, Ghavamzadeh, Lazaric, Bubeck (2011), "Multi-bandit best arm identification", NIPS 24.
"""
