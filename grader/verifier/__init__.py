"""Compiles and runs exported programs, inside its own walls. Submitted Python never gets here."""
