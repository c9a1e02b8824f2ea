"""Top-K arms by aggregate regret: AdaptiveTopK, OptMAI and CLUCB, against budget, K and accuracy.

Chen, Chen, Zhang, Zhou (2017), "Adaptive multiple-arm identification", ICML, Figures 1 to 4; Zhou, Chen, Li (2014),
"Optimal PAC multiple arm identification with applications to crowdsourcing", ICML, Figures 1 and 2; Bubeck, Wang,
Viswanathan (2013), "Multiple identifications in multi-armed bandits", ICML, Figure 4.
"""
