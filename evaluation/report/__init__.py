"""The report of a run: tables as the papers print them, plots, tests, worst cases, and what no figure shows."""
