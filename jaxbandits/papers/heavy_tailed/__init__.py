"""Heavy-tailed payoffs: SE-delta and SR-T with empirical and truncated means, next to what their theorems promise.

Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI.
"""
