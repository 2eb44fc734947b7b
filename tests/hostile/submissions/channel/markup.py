"""expect: accepted. Prints text that a page must not treat as its own markup."""

print("<script>alert(1)</script><img src=x onerror=alert(1)>]]>--></pre></code>{{7*7}}${7*7}' or 1=1 --")


def add_one(x):
    return x + 1
