#!/bin/sh
# Check that a board can make and describe filesystems, and has what observers need. Prints one line for each
# missing thing. usage: check-parts.sh 'FILESYSTEM...' 'OBSERVER...'
missing=0
for type in $1; do sh /run/commitpath/filesystem.sh "$type" check || missing=1; done
for name in $2; do sh /run/commitpath/observer.sh "$name" check || missing=1; done
exit $missing
