// Text beside code: the border between them moves, and either side can have the whole width.
import { LEAST, MOST, showWidth, storedWidth, storeWidth, USUAL } from "./split_width.js";

const panes = document.querySelector("[data-panes]");
const split = panes.querySelector("[data-split]");
let width = storedWidth();

function setWidth(percent) {
  width = Math.min(MOST, Math.max(LEAST, Math.round(percent)));
  showWidth(width);
  split.setAttribute("aria-valuenow", String(width));
  split.setAttribute("aria-valuetext", `${width} % for the text`);
}

function chooseWidth(percent) {
  setWidth(percent);
  storeWidth(width);
}

const KEYS = {
  ArrowLeft: () => width - 2,
  ArrowRight: () => width + 2,
  PageUp: () => width + 10,
  PageDown: () => width - 10,
  Home: () => LEAST,
  End: () => MOST,
  Enter: () => USUAL,
};

split.addEventListener("keydown", (event) => {
  if (!(event.key in KEYS) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  chooseWidth(KEYS[event.key]());
});

split.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  event.preventDefault();
  split.focus();
  split.setPointerCapture(event.pointerId);
});
split.addEventListener("pointermove", (event) => {
  if (!split.hasPointerCapture(event.pointerId)) return;
  const { left, width: whole } = panes.getBoundingClientRect();
  setWidth(((event.clientX - left) / whole) * 100);
});
split.addEventListener("lostpointercapture", () => storeWidth(width));
split.addEventListener("dblclick", () => chooseWidth(USUAL));

const buttons = [...panes.querySelectorAll("[data-enlarge]")];

/** Give a side ("reading" or "workbench") the whole width, or show both again. */
function enlarge(side) {
  if (side) panes.dataset.enlarged = side;
  else delete panes.dataset.enlarged;
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.enlarge === side));
}

for (const button of buttons) {
  button.hidden = false;
  button.addEventListener("click", () => enlarge(panes.dataset.enlarged ? null : button.dataset.enlarge));
}

/** Make sure that a side can be seen: the other one may have the whole width. */
export function reveal(side) {
  if (panes.dataset.enlarged && panes.dataset.enlarged !== side) enlarge(null);
}

setWidth(width);
