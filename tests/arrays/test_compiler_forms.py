"""What is computed once and kept: the bits that it was."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.compilers.xla_cpu import barrier_pair
from jaxbandits.engine.lanes import COMPILER_OPTIONS

# Every exponent and sign with some fractions: zeros, subnormal numbers, infinities, NaNs that signal and that do not.
PATTERNS = ((np.arange(512, dtype=np.uint32) << 23)[:, None] + np.asarray([0, 1, 2**22 - 1, 2**22, 2**23 - 1])).ravel()
PATTERNS = PATTERNS.astype(np.uint32)


@pytest.mark.bits
@pytest.mark.parametrize("options", [COMPILER_OPTIONS, None])
@pytest.mark.parametrize("platform", ["cpu", "gpu"])
def test_two_arrays_of_one_loop_keep_every_bit(platform, options):
    def found(one, other):
        uniform = jax.lax.bitcast_convert_type(one, jnp.float32)
        kept, word = barrier_pair(uniform, other ^ jnp.uint32(5))
        return jax.lax.bitcast_convert_type(kept, jnp.uint32), word ^ jnp.uint32(5)

    with override_lowering(platform):
        one, other = jax.jit(found, compiler_options=options)(PATTERNS, PATTERNS[::-1])
        assert ("complex" in str(jax.make_jaxpr(found)(PATTERNS, PATTERNS))) == (platform == "cpu")
    np.testing.assert_array_equal(one, PATTERNS)
    np.testing.assert_array_equal(other, PATTERNS[::-1])
