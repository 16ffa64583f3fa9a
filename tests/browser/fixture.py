# SPDX-License-Identifier: Apache-2.0
"""One browser and one set of pages for all tests of a process; both are gone when it ends."""
import atexit
import functools
import os
import pathlib
import tempfile
import unittest

import runs
from webdriver import Browser

READY = "return 'ready' in document.documentElement.dataset"
BUILT = "return 'built' in document.documentElement.dataset"


@functools.cache
def folder():
    directory = tempfile.TemporaryDirectory()
    atexit.register(directory.cleanup)
    return directory.name


@functools.cache
def pages():
    only = os.environ.get("CT_PAGES")
    return runs.make(folder(), pathlib.Path(os.environ["CT_BUILD"], "bin"), os.environ["CT_GLOO_JOB"], only.split(",") if only else None)


@functools.cache
def browser():
    one = Browser(folder())
    atexit.register(one.close)
    return one


class WithPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages, cls.browser = pages(), browser()

    def open(self, page):
        """The page, complete, on a desk in the light; what came before is forgotten."""
        self.browser.requests()
        self.browser.console()
        self.browser.size(1280)
        self.browser.scheme("light")
        self.browser.open(page.file.as_uri(), READY)
        self.browser.wait(BUILT, 30)

    def reopen(self, page):
        """The page as it was, without loading it anew where it is open."""
        if self.browser.run("return location.href") != page.file.as_uri():
            self.open(page)
            return
        self.browser.size(1280)
        self.browser.run("ct.state.clear(); document.activeElement.blur(); for (const d of document.querySelectorAll('figure details')) d.open = false")
        self.browser.point(2, 2)

    def unroll(self, width):
        """All folds open and the window as high as the page, so that everything is drawn."""
        self.unfold()
        self.browser.size(width, self.browser.run("return document.documentElement.scrollHeight"))
        self.browser.wait("return [...document.querySelectorAll('.plot')].every(e => !e.checkVisibility() || e.childElementCount)")
        self.browser.frame()

    def unfold(self):
        self.browser.run("for (const fold of document.querySelectorAll('main > details')) fold.open = true")

    def none(self, found, **where):
        """That there is nothing to complain of; the test goes on to what comes next."""
        with self.subTest(**where):
            self.assertFalse(found, "\n" + "\n".join(found[:12]))
