"""Algorithms: the protocol, a folder for each family, and the registry."""

from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.lazy_registry import face

_FURTHER = {
    "REGISTRY": "registry:REGISTRY",
}

__getattr__, __dir__, __all__ = face(__name__, _FURTHER, REGISTRY)
