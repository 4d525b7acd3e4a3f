"""Describes cells, engines, filesystems, devices, workloads and crash points, for planning and analysis."""
