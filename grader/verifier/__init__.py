"""Inside walls of its own: compiles and runs exported programs. Submitted Python never gets here."""
