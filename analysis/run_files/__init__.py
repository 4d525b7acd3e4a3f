"""Read and write the files of a run's folder, and detect those that changed."""
