#!/bin/sh
# An unknown unit is an error.
! "${CONVERT:-./convert}" 1 m ell
