"""Algorithms: what they are made of in `bases`, one module a family beside it, and the registry."""

from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.registry import face

_FURTHER = {
    "Algorithm": "bases.protocol:Algorithm",
    "BatchBased": "bases.batch_based:BatchBased",
    "BuiltIn": "bases.built_in:BuiltIn",
    "Sequential": "bases.sequential:Sequential",
    "REGISTRY": "registry:REGISTRY",
}

__getattr__, __dir__, __all__ = face(__name__, _FURTHER, REGISTRY)
