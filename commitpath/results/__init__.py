"""Query the results database for a cell's runs; metrics of runs, footnotes, and EXPECT."""
