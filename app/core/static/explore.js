// The Explorer: what is written on the left is compiled, and the result appears on the right, without leaving the page.
import { CodeBox } from "./code_box.js";
import { mark, onPoint, showStarts } from "./explored_lines.js";
import { LiveLine } from "./live.js";
import "./panes.js";
import { fetchPatiently } from "./patience.js";
import { followEvents } from "./work_events.js";
import { foldFields, restoreFields, storeFields } from "./explored_fields.js";
import { offerModules } from "./explored_modules.js";

// Typing rests once it has paused for this long.
const REST_MS = 500;
const EVERY_MS = 2000;
const TOO_MANY = 429;
const SWITCH = "meshgrade:compile-as-you-type";

const form = document.querySelector("[data-explore]");
const area = form.querySelector(".editor textarea");
const other = form.querySelector("[name=against]");
const pane = document.querySelector("[data-result-pane]");
const live = document.querySelector("[data-live]");
const line = new LiveLine(live);
const cancelButton = live.querySelector("[data-cancel]");
const share = live.querySelector("[data-share]");
const whileTyping = form.querySelector("[data-while-typing]");
let timer;
let wanted = null;
let busy = false;
let stop;
// The run that the next one may replace.
let last = null;

offerModules(form, rest);
restoreFields(form);
foldFields(form);
const editor = new CodeBox(form, area.value, actionsOf("line"));
// The editor of B, once B is opened.
let otherEditor;
const compared = other.closest("details");
compared.addEventListener("toggle", openOther);
openOther();
addEventListener("pagehide", () => storeFields(form));
onPoint(light);
document.querySelector("[data-shortcuts]").hidden = false;
document.querySelector("[data-by-line]")?.remove();

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run(false);
});
form.addEventListener("input", (event) => {
  if (event.target.matches("[name]") && event.target !== area) rest();
});
if (whileTyping) {
  whileTyping.closest("label").hidden = false;
  // A guest may compile only a few times an hour, so a guest must switch this on.
  whileTyping.checked = (recall() ?? whileTyping.dataset.whileTyping) === "on";
  whileTyping.addEventListener("change", () => {
    keep(whileTyping.checked ? "on" : "off");
    rest();
  });
}
cancelButton.addEventListener("click", async () => {
  wanted = null;
  const address = last?.address;
  if (!address) return;
  last = null;
  stop.abort();
  line.say("Cancelling");
  await post(`${address}/remove`, { form_token: form.elements.form_token.value }).catch(() => {});
});
// The next run must not replace a result that the reader is about to share.
share.addEventListener("click", () => { if (last?.hasEnded) last = null; });
pane.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#line-'], a[href^='#other-']");
  if (!link) return;
  event.preventDefault();
  // A link in a drawing has no `hash`.
  const address = link.getAttribute("href");
  const number = Number(address.split("-")[1]);
  if (address.startsWith("#line-")) return editor.jump(number);
  compared.open = true;
  openOther();
  otherEditor.jump(number);
});

/** What the editor of a version does. `prefix` begins the names of its lines. */
function actionsOf(prefix) {
  return {
    change: rest,
    run: () => run(false),
    submit: () => run(false),
    point(number, isCursor) {
      const of = number ? `${prefix}-${number}` : undefined;
      mark(of);
      light(of);
      if (isCursor && number) showMarked();
    },
  };
}

function openOther() {
  if (!compared.open || otherEditor) return;
  otherEditor = new CodeBox(form, other.value, actionsOf("other"), { box: other.closest(".editor"), menu: editor.menu });
  const result = pane.querySelector("[data-result]");
  if (result) note(result);
}

/** Highlights a line, such as "other-6", in the editor of its version. */
function light(of) {
  const [prefix, number] = of?.split("-") ?? [];
  editor.light(prefix === "line" ? Number(number) : null);
  otherEditor?.light(prefix === "other" ? Number(number) : null);
}

function recall() {
  try {
    return localStorage.getItem(SWITCH);
  } catch {
    return null; // the browser keeps nothing for this site
  }
}

function keep(value) {
  try {
    localStorage.setItem(SWITCH, value);
  } catch {
    // The choice holds until the page is left.
  }
}

/** Compiles once typing rests. Compiling for chips can take minutes, so that waits until the reader asks. */
function rest() {
  clearTimeout(timer);
  if (whileTyping?.checked && !form.elements.chip?.value) timer = setTimeout(() => run(true), REST_MS);
}

/** Compiles what the form holds. The next run replaces one that has not ended. */
async function run(isTyped) {
  clearTimeout(timer);
  wanted = { isTyped };
  // The one that is being followed is not waited for.
  stop?.abort();
  if (busy) return;
  busy = true;
  cancelButton.hidden = false;
  while (wanted) {
    const now = wanted;
    wanted = null;
    try {
      await compile(now.isTyped);
    } catch (error) {
      line.stop("The server cannot be reached. Your code is still here; try again in a moment.");
      if (!(error instanceof TypeError)) throw error;
    }
  }
  busy = false;
  cancelButton.hidden = true;
}

function describe({ status, phase }) {
  if (status === "queued") return "Waiting. Submissions go first.";
  return phase ? `Compiling. Now: ${phase}.` : "Compiling";
}

async function compile(isTyped) {
  stop = new AbortController();
  const { signal } = stop;
  line.start("Sending");
  const replaces = last && (last.isTyped || !last.hasEnded) ? last.address.split("/").at(-1) : "";
  const { page, address, status } = await post("/explore", { ...Object.fromEntries(new FormData(form)), replaces });
  if (!address.startsWith("/explore/")) {
    if (status === TOO_MANY && isTyped) whileTyping.checked = false;
    // The page of a refusal opens the fields.
    else if (page.querySelector("[data-fields]")?.open) form.querySelector("[data-fields]").open = true;
    line.stop(page.querySelector("main .notice.bad")?.textContent.trim() ?? "The server did not accept it. Reload the page.");
    return;
  }
  const mine = last = { address, isTyped, hasEnded: false };
  const id = address.split("/").at(-1);
  history.replaceState(history.state, "", `/explore?exploration=${id}`);
  let found = page;
  while (isGoing(found)) {
    line.say(found.querySelector("[data-live-part]").querySelector("p").textContent.trim());
    const follow = (state) => (state.partial ? showPart(mine, signal) : line.say(describe(state)));
    const end = await followEvents(`/api/v1/explorations/${id}`, follow, { signal });
    // Where events do not get through, ask now and then.
    if (!end && !signal.aborted) await new Promise((resolve) => { setTimeout(resolve, EVERY_MS); });
    if (signal.aborted) keepPart();
    if (last !== mine) return line.stop("Cancelled.");
    if (wanted) return;
    const answer = await fetchPatiently(address, { headers: { Accept: "text/html" } }, (words) => line.say(words));
    if (answer.ok) found = parse(await answer.text());
    else if (answer.status === 404) return line.stop("It was deleted.");
  }
  mine.hasEnded = true;
  share.href = address;
  share.hidden = false;
  show(found.querySelector("[data-result]"));
}

/** Shows the first mesh of `mine`, once, while the others are still being compiled. */
async function showPart(mine, signal) {
  if (mine.hasPart) return;
  mine.hasPart = true;
  try {
    const answer = await fetch(mine.address, { headers: { Accept: "text/html" } });
    const part = answer.ok && parse(await answer.text()).querySelector("[data-partial]");
    // The whole may have arrived first, or the run may have been stopped.
    if (part && !mine.hasEnded && !signal.aborted) show(part);
  } catch {
    // The whole result follows.
  }
}

/** Says that what is shown of a run that has been stopped is all that there is. */
function keepPart() {
  const part = pane.querySelector("[data-partial]");
  if (!part) return;
  part.removeAttribute("data-partial");
  part.querySelector("[data-missing]").textContent = "The run was stopped before the rest was compiled.";
}

const isGoing = (page) => page.querySelector("[data-live-part]")?.dataset.livePart === "going";
const parse = (html) => new DOMParser().parseFromString(html, "text/html");

/** Sends fields to `path`. Returns the page that answers, its address and its status. */
async function post(path, fields) {
  const options = { method: "POST", headers: { Accept: "text/html" }, body: new URLSearchParams(fields) };
  const answer = await fetchPatiently(path, options, (words) => line.say(words));
  return { page: parse(await answer.text()), address: answer.redirected ? new URL(answer.url).pathname : "", status: answer.status };
}

/** Puts a result into the pane. If the source has no program, the fault appears above the last result. */
function show(result) {
  const fault = result.querySelector("[data-fault]");
  const shown = pane.querySelector("[data-result]");
  shown?.querySelector("[data-fault]")?.remove();
  if (fault && shown?.querySelector(".mesh") && !shown.dataset.partial) {
    const note = document.createElement("p");
    note.textContent = "Below is the last version that compiled.";
    fault.append(note);
    shown.prepend(document.adoptNode(fault));
  } else {
    const open = new Map([...pane.querySelectorAll("details")].map((each) => [keyOf(each), each.open]));
    const top = pane.scrollTop;
    for (const each of result.querySelectorAll("details")) each.open = open.get(keyOf(each)) ?? each.open;
    const tab = pane.querySelector("[name=platform]:checked")?.id;
    if (tab && result.querySelector(`#${tab}`)) result.querySelector(`#${tab}`).checked = true;
    pane.replaceChildren(document.adoptNode(result));
    showStarts(pane);
    pane.scrollTop = top;
    note(result);
  }
  const number = Number(fault?.dataset.fault);
  const marks = number ? [{ line: number, text: fault.querySelector("pre").textContent.trim() }] : [];
  editor.setMarks(fault?.dataset.of === "against" ? [] : marks);
  otherEditor?.setMarks(fault?.dataset.of === "against" ? marks : []);
  if (result.dataset.partial) line.say(`${result.dataset.headline}. ${result.dataset.partial}`);
  else line.stop(fault ? fault.querySelector("p").textContent.trim() : `Compiled: ${result.dataset.headline}.`);
}

const keyOf = (details) => `${details.closest("section")?.id}${details.querySelector("summary").textContent}`;

/** Marks in the editor of each version what its lines cost. */
function note(result) {
  editor.setNotes(notesOf(result, "line", result.dataset.notes));
  otherEditor?.setNotes(notesOf(result, "other", result.dataset.otherNotes));
}

function notesOf(result, prefix, text) {
  const notes = JSON.parse(text);
  const lines = new Set([...result.querySelectorAll(`[data-of-line^=${prefix}-]`)].map((each) => Number(each.dataset.ofLine.split("-")[1])));
  for (const number of Object.keys(notes)) lines.add(Number(number));
  return [...lines].sort((a, b) => a - b).map((number) => {
    const [words, kind] = notes[number] ?? ["", 0];
    return { line: number, text: words, kind };
  });
}

/** Brings the first marked row into the pane, where it scrolls. */
function showMarked() {
  if (pane.scrollHeight <= pane.clientHeight) return;
  [...pane.querySelectorAll(".is-pointed-at")].find((each) => each.checkVisibility())?.scrollIntoView({ block: "nearest" });
}

const first = pane.querySelector("[data-result]");
if (first) note(first);
else if (whileTyping?.checked) rest();
