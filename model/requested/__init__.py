"""Settings that a cell requests, and their form when read back; allowed options of mkfs and mount."""
