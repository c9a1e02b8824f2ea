"""Infinitely many arms under a budget of cost: RCB-I, RCB-AIR and their baselines.

Li and Xia (2017), "Infinitely many-armed bandits with budget constraints", AAAI. The paper's text has no experiments:
these are ours.
"""
