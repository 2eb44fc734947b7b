"""expect: accepted or rejected/syntax_error. Declares an encoding that turns comments into code."""


def make():
    return "# -*- coding: raw_unicode_escape -*-\ndef add_one(x):\n    return x + 1\n# \\u000aprint('CROSSED: ran a comment')\n"
