"""One module per migration; its statements never change once released."""
