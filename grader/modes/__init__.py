"""The modes in which a problem is graded, one package each."""
