"""expect: accepted. Prints what a page must not take for its own."""

print("<script>alert(1)</script><img src=x onerror=alert(1)>]]>--></pre></code>{{7*7}}${7*7}' or 1=1 --")


def add_one(x):
    return x + 1
