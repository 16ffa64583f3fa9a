#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.html in a real browser: report.py [Class[.test]] [-v]. CT_BUILD is the build tree, CT_GLOO_JOB and CT_UNITS_TEXT are
programs of it (CMakeLists.txt); CT_PAGES=name,name takes only some of the runs.
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from pages import Pages  # noqa: E402, F401
from use import Pictures, Tables  # noqa: E402, F401

if __name__ == "__main__":
    unittest.main()
