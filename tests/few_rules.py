"""What `compare` compares where a page or an example calls it: each rule takes a compilation."""

from jaxbandits.comparison import candidates

__all__ = ["FEW"]

FEW = {name: candidates.REGISTRY[name] for name in ("ugape-c", "lucb", "sequential-halving", "successive-rejects")}
