#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The list of commands, whichever way it is asked for.
commtrace help
commtrace --help | cmp - <(commtrace help)
commtrace -h | cmp - <(commtrace help)
