"""The phases of a grading in plain words. The judge's own words are short, for logs and terminals."""

# By how the judge's phrase begins; what follows it stays. app/core/static/grading.js gets this table with the page.
WORDS = {
    "starting": "starting a sandbox",
    "making the cases": "making the test inputs",
    "compiling the reference at full size": "compiling the reference at full size, once for everyone",
    "running the reference": "running the reference, once for everyone",
    "drawing the questions": "drawing the questions and answering them, once for everyone",
    "drawing your inputs": "drawing your inputs, and running the reference on them",
    "running the known wrong submissions": "running known mistakes, to compare",
    "importing": "importing your code",
    "case": "running your code on case",
    "exporting for": "exporting your program for",
    "compiling for": "compiling your program for",
    "compiling and running": "compiling your program and running it",
    "compiling": "compiling your program",
    "comparing": "comparing with the reference",
    "waiting for another try": "waiting for another try",
    # After the phases that begin with the same word.
    "running": "running the program",
}


def in_words(phase: str) -> str:
    """A phase as pages show it. One that has no words here stays as it is."""
    for begins, words in WORDS.items():
        if phase == begins or phase.startswith(f"{begins} "):
            return words + phase[len(begins) :]
    return phase
