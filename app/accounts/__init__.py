"""Who somebody is: users, sessions, tokens and every way to sign in."""
