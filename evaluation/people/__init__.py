"""People as raters: blind forms to hand out, and the summary of the answers."""
