"""People as raters: blind forms to hand out, and what comes back."""
