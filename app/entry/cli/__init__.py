"""The command `meshgrade`: everything that it does on this machine."""
