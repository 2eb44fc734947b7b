// The card of a question: sends its answers and shows in their place how each was graded. Without a script, the page does.
import { showMeanings } from "./answer_mesh.js";
import { describe, fetchPage, follow, GradingError } from "./grading.js";
import { LiveLine } from "./live.js";
import { fetchPatiently } from "./patience.js";

// What a graded answer changes on the page besides the card.
const PARTS = ["[data-verdict]", "[data-previous]", "[data-editorial]", "[data-mark=editorial]"];
const card = document.querySelector("[data-card]");
const formOf = () => card.querySelector("form[data-answers]");
const lineOf = () => new LiveLine(card.querySelector("[data-live]"));

/** Takes the card and what depends on it from a page that the server drew. */
function show(page, address) {
  const next = page.querySelector("[data-card]");
  if (!next) throw new GradingError("The server responded with another page. Your answers are kept here; load the page again.");
  card.replaceChildren(...next.childNodes);
  for (const part of PARTS) {
    const drawn = page.querySelector(part);
    if (drawn) document.querySelector(part)?.replaceChildren(...drawn.childNodes);
  }
  history.replaceState(history.state, "", address);
  begin();
}

/** Sends the form as it would send itself, and returns the page that it leads to, with its address. */
async function send(form, submitter, line) {
  const body = new URLSearchParams(new FormData(form, submitter));
  let response;
  try {
    const options = { method: "POST", body, headers: { Accept: "text/html" } };
    response = await fetchPatiently(form.getAttribute("action"), options, (words) => line.say(words));
  } catch {
    throw new GradingError("The server cannot be reached. Your answers are kept here; try again in a moment.");
  }
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return [page, response.redirected ? new URL(response.url).pathname + new URL(response.url).search : location.href];
}

async function submit(event) {
  event.preventDefault();
  const [form, button] = [event.currentTarget, event.submitter];
  if (!button || button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  const line = lineOf();
  line.start("Sending");
  try {
    show(...await send(form, button, line));
    // A fault has the focus at its field. Otherwise it stays at the button, which the card has replaced.
    (card.querySelector("[autofocus]") ?? card.querySelector("[data-phase]")).focus({ preventScroll: !card.querySelector("[autofocus]") });
  } catch (error) {
    button.removeAttribute("aria-disabled");
    line.stop(error instanceof GradingError ? error.message : "Something went wrong on this page. Load it again.");
    if (!(error instanceof GradingError)) throw error;
  }
}

/** Waits for the verdict, then shows it in the fields. */
async function wait(id) {
  const [line, address] = [lineOf(), `${location.pathname}?attempt=${id}`];
  line.start(line.phase.textContent);
  try {
    await follow(id, (state) => line.say(describe(state)));
    const page = await fetchPage(address);
    const hasFocus = card.contains(document.activeElement);
    show(page, address);
    if (hasFocus) card.querySelector("[data-phase]")?.focus({ preventScroll: true });
  } catch (error) {
    line.stop(error.message);
    if (!(error instanceof GradingError)) throw error;
  }
}

async function askAgain(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const { pathname } = event.currentTarget;
  try {
    show(await fetchPage(pathname), `${pathname}#workbench`);
    card.closest(".workbench").scrollTop = 0;
    card.querySelector("h2").focus();
  } catch {
    location.assign(pathname);
  }
}

function begin() {
  const form = formOf();
  showMeanings(card.querySelector(".answers"));
  form?.addEventListener("submit", submit);
  card.querySelector("[data-again]")?.addEventListener("click", askAgain);
  const next = document.querySelector("[data-editorial] [data-next]");
  if (next && form && "solved" in form.dataset) lineOf().link(`Next: ${next.textContent}`, next.href);
  if (form?.dataset.underWay) wait(form.dataset.underWay);
}

begin();
