"""Facts shared by planning and analysis: cells, engines, filesystems, devices, workloads, crash points."""
