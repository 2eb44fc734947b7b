// Calculates while somebody types: fetches the page for the inputs in the form, and takes over what was calculated. Nothing
// that has the focus is replaced. While an input is wrong, the last numbers stay and are marked.
const RESTS_MS = 250;
const form = document.querySelector("[data-calculator]");
let timer;
let stop;

/** Returns the page at `address`, which also shows what is wrong. Null if a later request has taken its place. */
async function readPage(address) {
  stop?.abort();
  const { signal } = stop = new AbortController();
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" }, signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (page.querySelector("[data-calculator]")) return { page, ok: answer.ok };
    markOld(`The server responded with ${answer.status}. Try again in a moment.`);
  } catch (error) {
    if (!signal.aborted) markOld("The server cannot be reached. Try again in a moment.");
    if (!(error instanceof TypeError || signal.aborted)) throw error;
  }
  return null;
}

async function calculate() {
  clearTimeout(timer);
  const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
  const found = await readPage(address);
  if (!found) return;
  showFaults(found.page);
  if (found.ok) showResults(found.page, address);
  else markOld([...found.page.querySelectorAll("[role=alert] li")].map((each) => each.textContent.trim()).join(" "));
}

/** Fills the form with a preset, which is a link to the page with its values. */
async function fill(address) {
  clearTimeout(timer);
  const found = await readPage(address);
  if (!found) return;
  for (const each of form.querySelectorAll("input, select")) each.value = found.page.getElementById(each.id).value;
  showFaults(found.page);
  if (found.ok) showResults(found.page, address);
}

function showResults(page, address) {
  for (const part of document.querySelectorAll("[data-calculated]")) {
    const fresh = page.querySelector(`[data-calculated="${part.dataset.calculated}"]`);
    const opened = [...part.querySelectorAll("details")].map((each) => each.open);
    const focused = [...part.querySelectorAll("a, summary, [tabindex]")].indexOf(document.activeElement);
    part.replaceChildren(...fresh.childNodes);
    part.classList.remove("is-old");
    part.querySelectorAll("details").forEach((each, index) => { each.open = opened[index] ?? false; });
    if (focused >= 0) part.querySelectorAll("a, summary, [tabindex]")[focused]?.focus({ preventScroll: true });
  }
  history.replaceState(null, "", address);
}

function showFaults(page) {
  for (const field of form.querySelectorAll(".field")) {
    const input = field.querySelector("input, select");
    const fresh = page.getElementById(input.id);
    field.className = fresh.closest(".field").className;
    for (const name of ["aria-invalid", "aria-describedby"]) {
      if (fresh.hasAttribute(name)) input.setAttribute(name, fresh.getAttribute(name));
      else input.removeAttribute(name);
    }
    field.querySelector(".fault")?.remove();
    const fault = fresh.closest(".field").querySelector(".fault");
    if (!fault) continue;
    input.after(fault);
    const fold = field.closest("details");
    if (fold) fold.open = true;
  }
}

function markOld(why) {
  const note = document.querySelector("[data-old]");
  if (!note) return;
  note.querySelector("span").textContent = why;
  note.hidden = false;
  document.querySelector("[data-current]").hidden = true;
  for (const name of ["numbers", "plot", "every"]) document.querySelector(`[data-calculated=${name}]`).classList.add("is-old");
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(calculate, RESTS_MS);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  calculate();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-preset]");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  fill(link.href);
});
