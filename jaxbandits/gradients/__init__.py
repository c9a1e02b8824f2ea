"""Derivatives of the expectations of runs, with standard errors."""

from jaxbandits.gradients.expectations import expected
from jaxbandits.gradients.softened_policies import softened

__all__ = ["expected", "softened"]
