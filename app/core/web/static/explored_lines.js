// Pointing at a line of a source marks the operations that it causes, and the other way round.
const marked = "is-pointed-at";
const all = [...document.querySelectorAll("[data-of-line]")];

function mark(line) {
  for (const each of all) each.classList.toggle(marked, line !== undefined && each.dataset.ofLine === line);
}

for (const each of all) {
  each.addEventListener("pointerenter", () => mark(each.dataset.ofLine));
  each.addEventListener("pointerleave", () => mark());
  each.addEventListener("focusin", () => mark(each.dataset.ofLine));
  each.addEventListener("focusout", () => mark());
}

// Finding in a compiled program: computations without a match are hidden, and those with one are opened. Afterwards all
// are as they were.
for (const listing of document.querySelectorAll("[data-searched]")) {
  const field = listing.querySelector("[data-search]");
  const parts = [...listing.querySelectorAll("details")].map((part) => ({ part, items: [...part.querySelectorAll("li")] }));
  let before = null;
  field.hidden = false;
  field.querySelector("input").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    before ??= parts.map(({ part }) => part.open);
    let found = 0;
    for (const [index, { part, items }] of parts.entries()) {
      for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
      const here = items.filter((item) => !item.hidden).length;
      part.hidden = here === 0;
      part.open = wanted === "" ? before[index] : here > 0;
      found += here;
    }
    if (wanted === "") before = null;
    field.querySelector("[role=status]").textContent = wanted === "" ? "" : `${found} ${found === 1 ? "instruction" : "instructions"}`;
  });
}
