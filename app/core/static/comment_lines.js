// On somebody else's attempt, choosing a line by a click or by its number puts the comment form below it.
const box = document.querySelector("[data-commented]");
const section = document.getElementById("comment");
const field = section.querySelector("#line");
const numbers = [...box.querySelectorAll("a.line-number")];
let rest = null; // The part of the divided block that is below the form.

const label = (pre) => {
  const lines = pre.querySelectorAll(".line-number");
  pre.setAttribute("aria-label", `Lines ${lines[0].dataset.line} to ${lines[lines.length - 1].dataset.line}`);
};

function rejoin() {
  if (!rest) return;
  const before = section.previousElementSibling;
  before.firstElementChild.append(...rest.firstElementChild.childNodes);
  rest.remove();
  rest = null;
  label(before);
}

function choose(number) {
  rejoin();
  const line = number.closest(".line");
  const pre = line.closest("pre");
  const below = [];
  for (let next = line.nextSibling; next; next = next.nextSibling) below.push(next);
  pre.after(section);
  if (below.some((each) => each.nodeType === Node.ELEMENT_NODE)) {
    rest = pre.cloneNode(false);
    rest.append(pre.firstElementChild.cloneNode(false));
    rest.firstElementChild.append(...below);
    section.after(rest);
    label(pre);
    label(rest);
  }
  field.value = number.dataset.line;
  stop(number);
  section.querySelector("textarea").focus();
}

// Tab stops only once among the line numbers, and the arrows go from line to line.
let stopped = numbers[0];
function stop(number) {
  stopped.tabIndex = -1;
  stopped = number;
  stopped.tabIndex = 0;
}
for (const each of numbers) each.tabIndex = -1;
stop(numbers[0]);

box.addEventListener("click", (event) => {
  const line = event.target.closest(".line");
  if (!line || event.ctrlKey || event.metaKey) return;
  const number = line.querySelector(".line-number");
  // Ignore the click, because the reader is selecting text to copy it.
  if (event.target !== number && !getSelection().isCollapsed) return;
  event.preventDefault();
  choose(number);
});
box.addEventListener("keydown", (event) => {
  const place = numbers.indexOf(event.target);
  if (place < 0) return;
  const to = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: numbers.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  stop(numbers[Math.min(Math.max(to, 0), numbers.length - 1)]);
  stopped.focus();
});
section.addEventListener("keydown", (event) => { if (event.key === "Escape") stopped.focus(); });

// The address, or a form that was sent back, names a line.
const named = numbers.find((each) => each.dataset.line === field.value);
if (named) choose(named);
