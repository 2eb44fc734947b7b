"""expect: accepted. Leaves files in its scratch folder; the next submission looks for them."""

import os

for folder in ("/tmp", os.getcwd(), os.path.expanduser("~")):
    with open(os.path.join(folder, "left-behind"), "w") as file:
        file.write("CROSSED: found what another submission left")
os.makedirs("/tmp/.cache/jax", exist_ok=True)


def add_one(x):
    return x + 1
