"""Rules that are written for one run, for tests: as newcomers write them, and as carelessly."""

import jax
import jax.numpy as jnp

import jaxbandits as jb


@jb.algorithm
class OwnUCBE:
    """UCB-E (Audibert, Bubeck, Munos 2010, Figure 1)."""

    budget: int
    a: float

    def select(self, arms, key):
        return jnp.argmax(arms.mean + jnp.sqrt(self.a / arms.pulls))

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


@jb.algorithm
class OwnUGapEc:
    """UGapEc (Gabillon, Ghavamzadeh, Lazaric 2012, Figure 1) for one arm."""

    epsilon: float
    delta: float
    traits = jb.Traits(tolerance="epsilon")

    def bounds(self, arms):
        radius = jnp.sqrt(0.5 * jnp.log(4 * arms.count * arms.time**3.0 / self.delta) / arms.pulls)
        upper, lower = arms.mean + radius, arms.mean - radius
        best = jnp.argmax(upper)
        second = jnp.max(upper.at[best].set(-jnp.inf))
        return upper, radius, jnp.where(jnp.arange(len(arms)) == best, second, upper[best]) - lower

    def select(self, arms, key):
        upper, radius, index = self.bounds(arms)
        chosen = jnp.argmin(index)
        rival = jnp.argmax(upper.at[chosen].set(-jnp.inf))
        return jnp.where(radius[rival] > radius[chosen], rival, chosen)

    def done(self, arms):
        return jnp.min(self.bounds(arms)[2]) < self.epsilon

    def recommend(self, arms):
        return jnp.argmin(self.bounds(arms)[2])


@jb.algorithm
class OwnLUCB:
    """LUCB1 (Kalyanakrishnan, Tewari, Auer, Stone 2012) for one arm: two arms a step, and a clock of its own."""

    epsilon: float
    delta: float
    traits = jb.Traits(tolerance="epsilon")

    def init(self, arms, key):
        return jnp.int32(1)

    def update(self, t, arms, arm, reward):
        return t + 1

    def pair(self, t, arms):
        radius = jnp.sqrt(jnp.log(1.25 * arms.count * t**4.0 / self.delta) / (2 * arms.pulls))
        best = jnp.argmax(arms.mean)
        upper = (arms.mean + radius).at[best].set(-jnp.inf)
        rival = jnp.argmax(upper)
        return best, rival, upper[rival] - (arms.mean[best] - radius[best])

    def select(self, t, arms, key):
        return jnp.stack(self.pair(t, arms)[:2])

    def done(self, t, arms):
        return self.pair(t, arms)[2] < self.epsilon

    def recommend(self, t, arms):
        return jnp.argmax(arms.mean)


@jb.algorithm
class Careless:
    """Products that are added, logarithms, sums, draws; a state of arms, one of a place, one of the run."""

    budget: int
    c: float

    def init(self, arms, key):
        return {"score": jnp.zeros(len(arms)), "best": jnp.argmax(arms.mean), "n": jnp.int32(0)}

    def select(self, state, arms, key):
        noise = jax.random.normal(key, arms.mean.shape)
        index = arms.mean * 1.1 + self.c * jnp.log1p(arms.time) * noise / jnp.sqrt(arms.pulls) + state["score"] * 0.3
        first = jnp.argmax(index)
        return jnp.stack([first, jnp.argmax(index.at[first].set(-jnp.inf))])

    def update(self, state, arms, arm, reward):
        scale = jnp.sum(arms.mean * arms.inverse_root) + jnp.dot(arms.mean, arms.mean) * 0.1
        score = state["score"].at[arm[0]].add(reward[0] * scale)
        return {"score": score, "best": arm[1], "n": state["n"] + 1}

    def done(self, state, arms):
        return (arms.time >= self.budget) | (jnp.exp(-jnp.max(state["score"])) * 1.3 < 1e-9)

    def recommend(self, state, arms):
        value = state["score"] + arms.mean
        return value >= jnp.max(value)


@jb.algorithm
class Halving:
    """Sequential Halving (Karnin, Koren, Somekh 2013, Algorithm 3): a batch a phase, ranked by its own rewards."""

    budget: int
    initial_pulls = 0

    def init(self, arms, key):
        return jnp.ones(len(arms), bool)

    def request(self, state, arms, key):
        phases = jnp.ceil(jnp.log2(arms.count))
        return jnp.where(state, jnp.floor(self.budget / (jnp.sum(state) * phases)).astype(int), 0)

    def absorb(self, state, arms, counts, sums):
        mean = jnp.where(state, sums / jnp.maximum(counts, 1), -jnp.inf)
        rank = jnp.argsort(jnp.argsort(-mean))
        return state & (rank < jnp.ceil(jnp.sum(state) / 2))

    def done(self, state, arms):
        return jnp.sum(state) == 1

    def recommend(self, state, arms):
        return state


@jb.algorithm
class Medians:
    """Rounds of some batches, and the arms with the larger medians go on; nothing but the latest sums is looked at."""

    pulls: int
    batches: int = 3
    initial_pulls = 0
    slots = 5
    fresh_only = True

    def init(self, arms, key):
        return {"left": jnp.ones(len(arms), bool), "round": jnp.int32(0)}

    def request(self, state, arms, key):
        return jb.Batches(jnp.where(state["left"], self.pulls, 0), self.batches + state["round"])

    def absorb(self, state, arms, counts, sums):
        number = jnp.arange(len(sums))[:, None]
        ordered = jnp.sort(jnp.where(number < counts.number, sums, 2**30), axis=0)
        middle = jnp.sum(jnp.where(number == counts.number // 2, ordered, 0), axis=0)
        middle = jnp.where(state["left"], middle, -1)
        rank = jnp.argsort(jnp.argsort(-middle))
        left = state["left"] & (rank < jnp.ceil(jnp.sum(state["left"]) / 2))
        return {"left": left, "round": state["round"] + 1}

    def done(self, state, arms):
        return jnp.sum(state["left"]) == 1

    def recommend(self, state, arms):
        return state["left"]


@jb.algorithm
class Wide:
    """Empirical Bernstein radii, so variances; divides a number by the length of the arrays."""

    budget: int
    second_moments = True

    def select(self, arms, key):
        radius = jnp.sqrt(2 * arms.variance / arms.pulls) + 7 / (3 * arms.pulls)
        return jnp.argmax(arms.mean + radius - 0.1 / len(arms) * jnp.mean(arms.mean))

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


@jb.algorithm
class Gaps:
    """Pull beside the largest gap between neighbours, which are one fewer than the arms: no padding follows them."""

    budget: int

    def select(self, arms, key):
        order = jnp.argsort(arms.mean)
        beside = jnp.argmax(jnp.diff(arms.mean[order]) * jnp.sum(arms.inverse_root))
        return order[beside + jax.random.randint(key, (), 0, 2)]

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


@jb.algorithm
class OwnRejects:
    """Successive Rejects (Audibert, Bubeck, Munos 2010, Figure 3): an elimination in phases."""

    budget: int

    def rounds(self, arms):
        log_bar = jnp.sum(1 / (1.0 + jnp.arange(len(arms)))) - 0.5
        return jnp.ceil((self.budget - arms.count) / (log_bar * arms.left)).astype(int) - arms.round

    def keep(self, arms, key):
        worst = jnp.argmin(jnp.where(arms.active, arms.mean, jnp.inf))
        return arms.active.at[worst].set(False)


@jb.algorithm
class OwnRace:
    """A Hoeffding race that looks after every round, ends with the best two, and counts its looks by arm."""

    delta: float
    traits = jb.Traits(answers="any", criterion=lambda problem, answer: answer[jnp.argmax(problem.mean)])

    def init(self, arms, key):
        return {"looks": jnp.int32(0), "of": jnp.zeros(len(arms), int)}

    def radius(self, arms):
        return arms.reward_range * jnp.sqrt(jnp.log(4 * arms.count * arms.round**2.0 / self.delta) / (2 * arms.round))

    def due(self, state, arms):
        return arms.highest - arms.lowest > 2 * self.radius(arms)

    def keep(self, state, arms, key):
        state = {"looks": state["looks"] + 1, "of": state["of"] + arms.active}
        best = jnp.max(arms.mean.at[jnp.argmax(arms.mean)].set(-jnp.inf))  # the second
        return state, arms.mean >= best - 2 * self.radius(arms)

    def done(self, state, arms):
        return arms.left <= 2

    def recommend(self, state, arms):
        return arms.active


RULES = {
    "ucb-e": OwnUCBE(budget=300, a=2.0),
    "ugape-c": OwnUGapEc(epsilon=0.2, delta=0.1),
    "lucb": OwnLUCB(epsilon=0.2, delta=0.1),
    "careless": Careless(budget=250, c=0.7),
    "halving": Halving(budget=500),
    "medians": Medians(pulls=20, batches=1),
    "wide": Wide(budget=300),
    "gaps": Gaps(budget=300),
    "rejects": OwnRejects(budget=300),
    "race": OwnRace(delta=0.5),
}
