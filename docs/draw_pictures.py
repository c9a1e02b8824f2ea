"""Draw the pictures that the README and the pages show: `python docs/draw_pictures.py [choosing] [phase] [papers]`."""

import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

from matplotlib.figure import Figure
from PIL import Image

PLACE = Path(__file__).parent / "_static"
#: What is fixed, what the answer is, and where to start.
_TREE = {
    "an error probability δ": [
        ("one arm", "TrackAndStop, LUCB"),
        ("m arms", "UGapEc, LUCB, KLLUCB"),
        ("above a threshold", "HDoC, APGAIc"),
        ("all near the best", "ST2"),
        ("one arm, heavy tails", "SuccessiveElimination"),
        ("unknown variances", "EBTCI"),
        ("pay per reward", "BernsteinRace"),
    ],
    "a number of pulls": [
        ("one arm", "SequentialHalving"),
        ("m arms", "SAR, UGapEb"),
        ("above a threshold", "APT, LSA"),
        ("K of thousands", "AdaptiveTopK, OptMAI"),
        ("of infinitely many", "SiRI"),
    ],
    "an amount of money": [("given arms", "RCB, KUBE"), ("infinitely many arms", "RCBI, RCBAIR")],
}
#: Of the first figures of a paper the picture that its algorithms' pages show.
_PAPERS = {
    "ugape": "ugape-epsilon",
    "heavy-tailed": "heavy-tailed-s1-delta",
    "top-k": "top-k-figure-1",
    "pay-per-reward": "pay-per-reward-arms",
    "budgeted": "budgeted-regret",
}


def choosing() -> None:
    """Draw the decision tree of "How to choose an algorithm", narrow enough for a phone."""
    mpl.rcParams["svg.hashsalt"] = "jaxbandits"  # the same file from the same tree
    rows = sum(len(leaves) + 1.6 for leaves in _TREE.values())
    figure = Figure(figsize=(4.4, 0.33 * rows + 0.4))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 4.4), ylim=(-rows - 0.6, 0.7))
    axes.axis("off")
    axes.text(0.1, 0.1, "What is fixed?", fontsize=13, weight="bold", color="#222222")
    y = -1.0
    for fixed, leaves in _TREE.items():
        box = {"boxstyle": "round,pad=0.3", "facecolor": "#0072B2", "edgecolor": "none"}
        axes.text(0.2, y, fixed, fontsize=11.5, color="white", va="center", bbox=box)
        last = y - len(leaves)
        axes.plot([0.3, 0.3], [y - 0.45, last], color="#8a8a8a", linewidth=1.2)
        for i, (answer, rules) in enumerate(leaves, start=1):
            axes.plot([0.3, 0.5], [y - i, y - i], color="#8a8a8a", linewidth=1.2)
            axes.text(0.56, y - i, answer, fontsize=10, va="center", color="#222222")
            axes.text(2.3, y - i, rules, fontsize=10, va="center", color="#0072B2")
        y = last - 1.6
    figure.savefig(PLACE / "choosing.svg", metadata={"Date": None}, facecolor="white")


def phase() -> None:
    """Draw pulls of UGapEc over ε and the number of arms, with lines of equal complexity."""
    import numpy as np

    import jaxbandits as jb

    jb.use_all_cores()
    rule = jb.UGapEc(epsilon=jb.axis(np.geomspace(0.04, 0.5, 24).round(3)), delta=0.05)
    arms = jb.axis([4, 6, 8, 10, 14, 20, 28, 40, 56, 80])
    grid = jb.sweep(rule, jb.one_sparse(n=arms, best=0.7), seeds=100)
    grid = jb.with_theory(grid, "h_epsilon")
    title = "Pulls of UGapEc, δ = 0.05"
    picture = jb.plot.phase(grid, x="epsilon", y="n", value="pulls", contours="h_epsilon", title=title)
    picture.savefig(PLACE / "phase.png", dpi=110)


def papers() -> None:
    """Draw the first figure of each of the five papers, legible on a phone, from few runs: a few minutes."""
    import jaxbandits as jb
    from jaxbandits.papers import reproduce

    jb.use_all_cores()
    mpl.rcParams.update({"figure.figsize": (5.0, 4.8), "figure.dpi": 120, "font.size": 11.0})
    with tempfile.TemporaryDirectory() as folder:
        reproduce([], "quick", Path(folder), first=True)
        for name, figure in _PAPERS.items():
            few = (
                Image.open(Path(folder) / f"{figure}.png").convert("RGB").quantize(128)
            )  # colours: a third of the bytes
            few.save(PLACE / f"{name}.png", optimize=True)


if __name__ == "__main__":
    PLACE.mkdir(exist_ok=True)
    known = {"choosing": choosing, "phase": phase, "papers": papers}
    for name in sys.argv[1:] or known:
        known[name]()
