# Makes operations.h from operations.yml by sed: a line OPERATION(NAME, "name", mutates, reads, rows) for each
# kind of operation. Set OPERATIONS to that file before this one is included.
$(OBJECTS)/operations.h: $(OPERATIONS) $(lastword $(MAKEFILE_LIST))
	@mkdir -p $(@D)
	sed -n -e 's/^\([a-z-]*\): {mutates: \([a-z]*\), reads: \([a-z]*\), rows: \([-0-9]*\),.*/OPERATION(\U\1\E, "\1", \2, \3, \4)/;T' \
	  -e ':again' -e 's/^\(OPERATION([A-Z_]*\)-/\1_/;t again' -e p $(OPERATIONS) >$@.part
	mv $@.part $@
