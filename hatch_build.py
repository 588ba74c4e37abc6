"""Compiles the inner loops while a wheel is built; without a compiler the wheel does the same work in numpy."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.errors import BaseError, CCompilerError

MODULE = "cairn.kernels._compiled"
SOURCE = "src/cairn/kernels/_compiled.c"
IS_WINDOWS = sys.platform == "win32"
# Sums must not be contracted: the results are those of numpy, to the bit.
FLAGS = ["/O2", "/std:c11"] if IS_WINDOWS else ["-O3", "-g0", "-ffp-contract=off"]
LIBRARIES = [] if IS_WINDOWS else ["m"]


class CompileKernels(BuildHookInterface[Any]):
    """Builds the extension beside its source, where an editable installation finds it too."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; the wheel is for this platform, and for all versions of Python from 3.11 on, if that worked."""
        extension = Extension(MODULE, [SOURCE], py_limited_api=True, extra_compile_args=FLAGS, libraries=LIBRARIES)
        command = Distribution({"ext_modules": [extension], "package_dir": {"": "src"}}).get_command_obj("build_ext")
        command.inplace = True
        command.build_temp = "build"
        try:
            for last in Path(SOURCE).parent.glob("_compiled.*"):
                if last.suffix in {".so", ".pyd"}:
                    last.unlink()  # what is left must not be taken for this build
            command.ensure_finalized()
            command.run()
        except (BaseError, CCompilerError, OSError) as error:  # no compiler, or a source tree that is read-only
            self.app.display_warning(f"searches will be slower: the inner loops were not compiled ({error})")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
