#!/bin/sh
# Assert that a board can make, describe and watch filesystems. Says all that is missing, one line each.
# usage: check-filesystems.sh TYPE...
missing=0
for type in "$@"; do sh /run/commitpath/filesystem.sh "$type" check || missing=1; done
exit $missing
