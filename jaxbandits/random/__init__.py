"""Random draws as pure functions of a key and a counter."""

from jaxbandits.random.binomial_draws import binomial

__all__ = ["binomial"]
