"""UGapE with a fixed confidence and with a fixed budget, next to what its theorems promise.

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25.
"""
