"""Numbers that papers print or draw, for comparison."""

__all__ = ["GAPE"]

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
