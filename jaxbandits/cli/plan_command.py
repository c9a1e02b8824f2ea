"""The command that plans from counts so far."""

import json as json_text
from pathlib import Path

import jaxbandits as jb
from jaxbandits.cli import display, files, inputs
from jaxbandits.cli.inputs import Names, Switch, Whole
from jaxbandits.counts.plan_words import written
from jaxbandits.errors import UsageError
from jaxbandits.storage.arrays_on_disk import replacing

__all__ = ["plan"]


def plan(
    *,
    data: Path,
    delta: float = 0.05,
    epsilon: float = 0.0,
    rewards: str | None = None,
    reward_range: float = 1.0,
    prior: str | None = None,
    rules: Names = (),
    budget: Whole | None = None,
    value_per_click: float | None = None,
    draws: Whole = 199,
    max_pulls: Whole | None = None,
    root_seed: Whole = 0,
    where: str = "",
    arm: str | None = None,
    pulls: str | None = None,
    successes: str | None = None,
    mean: str | None = None,
    variance: str | None = None,
    sd: str | None = None,
    squares: str | None = None,
    out: Path | None = None,
    json: Switch = False,
    progress: bool | None = None,
) -> None:
    """Say what counts so far show: the best arm, how sure, how many more pulls it takes, and what to do next.

    Args:
        data: a CSV file with a row for each arm, such as headline,impressions,clicks.
        delta: allowed probability of error.
        epsilon: a mean this far below the best is good enough.
        rewards: coins (0 and 1: pulls and successes), bounded or normal (pulls, mean, and variance, sd or squares).
        reward_range: the largest of bounded rewards.
        prior: of coins, uniform, jeffreys, or two numbers of a Beta law such as 2,160.
        rules: names of the rules to simulate, or none; by default all that can go on from counts and are not slow.
        budget: how many more pulls there may be: which share of the draws do they decide?
        value_per_click: the worth of one unit of reward, to turn the loss into money.
        draws: draws from the posterior, for each a run of each rule.
        max_pulls: further pulls at which a run is truncated; 5 times those made if not given.
        root_seed: seed of all randomness.
        where: column=value, to take only these rows of the file.
        arm: the column of names, if it has not a usual name; likewise the columns that follow.
        pulls: the column of numbers of pulls.
        successes: the column of numbers of successes.
        mean: the column of means.
        variance: the column of variances.
        sd: the column of standard deviations.
        squares: the column of sums of squared rewards.
        out: a picture to write, NAME.png, NAME.pdf or NAME.svg.
        json: print one JSON object instead of text.
        progress: show a progress bar on stderr; by default, if that is a terminal.
    """
    if out is not None:
        files.check_writable(out, files.PICTURES)
    inputs.start_jax()
    with display.progress_bar(progress) as update:
        found = jb.plan(
            data, delta=delta, epsilon=epsilon, rewards=rewards, reward_range=reward_range, prior=_prior(prior),
            rules=None if not rules else [] if rules == ("none",) else rules, budget=budget, value=value_per_click,
            draws=draws, max_pulls=max_pulls, root_seed=root_seed, where=where, arm=arm, pulls=pulls,
            successes=successes, mean=mean, variance=variance, sd=sd, squares=squares, on_progress=update,
        )  # fmt: skip
    if out is not None:
        with replacing(out) as temporary:
            found.picture().savefig(temporary)
    display.print_result(json_text.dumps(found.as_dict()) if json else written(found, display.width()))


def _prior(text: str | None) -> object:
    if text is None or "," not in text:
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--prior takes uniform, jeffreys or two numbers such as 2,160, got {text!r}") from None
