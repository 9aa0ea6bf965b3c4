"""The report of a run: tables as the papers print them, plots, tests, worst cases, and the limits of each figure."""
