"""Derivatives of what runs do in expectation, with standard errors."""

from jaxbandits.gradients.likelihood_ratio import expected

__all__ = ["expected"]
