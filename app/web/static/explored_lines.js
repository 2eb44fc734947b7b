// Pointing at a line of the source marks the operations that it causes, and the other way round.
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
