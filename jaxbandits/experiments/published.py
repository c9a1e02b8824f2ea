"""Numbers that papers print or draw, for comparison."""

__all__ = ["GAPE", "SAR", "SAR_BUDGETS"]

#: Gabillon et al. (2011), Figures 2 and 3: P(the best arm of some bandit is missed) over 100,000 runs, by problem,
#: method and eta; read from the bars, so the last digit is uncertain. Uniform sampling has no eta.
GAPE: dict[int, dict[str, dict[float | None, float]]] = {
    1: {
        "uniform": {None: 0.2947},
        "uniform + UCB-E": {4: 0.2522, 8: 0.2395, 16: 0.2447, 32: 0.2524},
        "GapE": {2: 0.1944, 4: 0.1572, 8: 0.1696, 16: 0.1934},
        "A-GapE": {1 / 8: 0.1624, 1 / 4: 0.1529, 1 / 2: 0.1579, 1: 0.1718},
    },
    2: {
        "uniform": {None: 0.2796},
        "GapE": {8: 0.2671, 16: 0.2551, 32: 0.2552, 64: 0.2557},
        "GapE-V": {2: 0.1804, 4: 0.1515, 8: 0.1674, 16: 0.1925},
        "A-GapE-V": {1 / 4: 0.1852, 1 / 2: 0.1543, 1: 0.1545, 2: 0.1696},
    },
}

#: Bubeck, Wang, Viswanathan (2013), Figure 4: P(not exactly the m best arms are returned) for m = 1, 2, … by experiment
#: and method, read from the curves to 0.004 (Experiments 1 and 2) or 0.002. Experiment i is `abm:i`, with the budget of
#: `SAR_BUDGETS`.
SAR: dict[int, dict[str, tuple[float, ...]]] = {
    1: {
        "uniform": (0.444, 0.272, 0.198, 0.142, 0.104, 0.075, 0.067, 0.045, 0.037, 0.026, 0.019, 0.015, 0.007,
                    0.004, 0.004, 0.004, 0.0, 0.0, 0.0),
        "SAR": (0.183, 0.157, 0.123, 0.101, 0.09, 0.075, 0.063, 0.048, 0.037, 0.03, 0.022, 0.015, 0.011,
                0.007, 0.004, 0.004, 0.0, 0.0, 0.0),
    },
    2: {
        "uniform": (0.007, 0.045, 0.157, 0.343, 0.59, 0.836, 0.672, 0.522, 0.396, 0.299, 0.224, 0.164, 0.112,
                    0.075, 0.045, 0.03, 0.015, 0.007, 0.002),
        "SAR": (0.0, 0.0, 0.03, 0.127, 0.358, 0.694, 0.515, 0.388, 0.306, 0.224, 0.179, 0.119, 0.082, 0.052,
                0.03, 0.015, 0.007, 0.0, 0.0),
    },
    3: {
        "uniform": (0.153, 0.038, 0.0),
        "SAR": (0.128, 0.028, 0.0),
    },
    4: {
        "uniform": (0.0, 0.24, 0.054, 0.013, 0.0),
        "SAR": (0.0, 0.177, 0.036, 0.004, 0.0),
    },
}  # fmt: skip
SAR_BUDGETS = {1: 2000, 2: 12_000, 3: 6000, 4: 8000}
