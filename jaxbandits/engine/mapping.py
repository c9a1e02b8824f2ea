"""Maps a rule of any kind to an algorithm of the engine."""

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.engine.elimination_rule import EliminationRule
from jaxbandits.engine.flight_rule import FlightRule
from jaxbandits.engine.flights import Flight
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.mapped_rule import MappedRule
from jaxbandits.engine.value_ranges import Facts
from jaxbandits.engine.waiting_rules import WaitingElimination, WaitingRule

__all__ = ["map_algorithm"]


def map_algorithm(rule: Rule, facts: Facts | None = None, flight: Flight | None = None) -> MappedAlgorithm:
    """Map a rule over the runs.

    Args:
        rule: the rule.
        facts: known properties of the numbers that it computes with; None for none.
        flight: the pulls in flight; None for none.
    """
    if flight is not None:
        kind = WaitingElimination if rule.eliminates else WaitingRule if rule.in_batches else FlightRule
        return kind(rule, facts, flight=flight)
    return EliminationRule(rule, facts) if rule.eliminates else MappedRule(rule, facts)
