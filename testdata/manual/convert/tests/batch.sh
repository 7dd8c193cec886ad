#!/bin/sh
# Conversions of a file against what is expected.
here=$(dirname "$0")
"${CONVERT:-./convert}" <"$here/batch.txt" | diff "$here/batch.expected" -
