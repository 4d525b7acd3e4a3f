"""The glue between the pipeline's folders: cells, one run's life, the command line."""
