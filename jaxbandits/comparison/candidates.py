"""The algorithms that answer a question about one problem and need nothing else."""

import dataclasses

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.traits import label_of
from jaxbandits.comparison.questions import Question
from jaxbandits.comparison.row_limits import RowLimits
from jaxbandits.engine.first_pulls import check_first_pulls_of_one
from jaxbandits.errors import UsageError
from jaxbandits.problems import Problem

__all__ = ["find_candidates"]


def find_candidates(
    problem: Problem, limits: RowLimits, question: Question, **given: float
) -> tuple[dict[str, Rule], list[str]]:
    """Return algorithms of one kind, by label, and why others are left out; `given` is delta or budget."""
    (kind,) = given
    known = {**question.settings, **given}
    found: dict[str, Rule] = {}
    left_out = []
    for name, cls in REGISTRY.items():
        fields = {field.name: field for field in dataclasses.fields(cls)}
        if kind not in fields or cls.traits.criterion not in question.criteria:
            continue  # of the other kind, or for another question
        needed = {key for key, field in fields.items() if field.default is dataclasses.MISSING}
        if not needed <= known.keys():
            left_out.append(f"{name} (needs {', '.join(sorted(needed - known.keys()))})")
            continue
        for settings in cls.variants_on(problem):
            label = label_of(name, settings)
            try:
                algorithm = cls(**{key: value for key, value in known.items() if key in fields}, **settings)
                algorithm.check_suitable(problem, known.get("m", 1))  # first: a rule that is left out warns of nothing
                own = algorithm.resolved(problem)
                algorithm.check(problem.arms // problem.bandits, problem.bandits)
                if (most := limits.least_limit(algorithm)) is not None:
                    check_first_pulls_of_one(own, problem, most)
            except UsageError as reason:
                left_out.append(f"{label} ({reason})")
            else:
                found[label] = algorithm
    return found, left_out
