"""The function that XLA calls tells the version of XLA's interface, also where XLA gives no functions of its own."""

import ctypes

import numpy as np
import pytest

from jaxbandits.engine.llvm import ffi_kernel

pytest.importorskip("llvmlite")

#: Words of 8 bytes of XLA's structures, for what is read of them (jaxlib/include/xla/ffi/api/c_api.h).
EXTENSION, FUNCTIONS = 1, 2
KIND, METADATA = 1, 3
VERSION_OF_FUNCTIONS, VERSION_OF_METADATA = 4, 3


@pytest.mark.parametrize("version", [None, (0, 3)])
def test_the_version_is_that_of_xla_or_the_oldest(version: tuple[int, int] | None) -> None:
    nothing = "define void @steps_of_runs(ptr %a, ptr %b, i32 %c) { ret void }"
    engine = ffi_kernel._compiled(nothing + ffi_kernel._handler(1, 1))
    frame, extension, metadata, functions = (np.zeros(16, np.int64) for _ in range(4))
    extension[KIND], extension[METADATA] = 1, metadata.ctypes.data
    frame[EXTENSION] = extension.ctypes.data
    if version is not None:
        functions[VERSION_OF_FUNCTIONS : VERSION_OF_FUNCTIONS + 1].view(np.int32)[:] = version
        frame[FUNCTIONS] = functions.ctypes.data
    handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(engine.get_function_address("handler"))
    assert handler(frame.ctypes.data) is None
    told = metadata[VERSION_OF_METADATA : VERSION_OF_METADATA + 1].view(np.int32)
    assert tuple(told) == (version or (0, 1))
