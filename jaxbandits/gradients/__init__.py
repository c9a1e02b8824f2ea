"""Derivatives of what runs do in expectation, with standard errors."""

from jaxbandits.gradients.expectations import expected

__all__ = ["expected"]
