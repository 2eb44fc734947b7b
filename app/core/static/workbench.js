// The problem page: the editor takes the text area's place, Run and Submit answer in place.
import { CodeBox } from "./code_box.js";
import { Draft } from "./draft.js";
import { cancel, describe, fetchFragment, follow, GradingError, NotSignedIn, readAttempt, send } from "./grading.js";
import { LiveLine, summarize } from "./live.js";
import { LivePicture } from "./live_picture.js";
import { showPart } from "./page_part.js";
import { linkPlaces } from "./places.js";
import { isOwnInput, ownInputs, showFaults } from "./typed_inputs.js";
import { Versions } from "./versions.js";
import { isWide, select } from "./views.js";

const form = document.querySelector("[data-workbench]");
const textarea = form.querySelector("textarea");
const verdictBox = document.querySelector("[data-verdict]");
const previousBox = document.querySelector("[data-previous]");
const cancelButton = document.querySelector("[data-cancel]");
const buttons = [...form.querySelectorAll("button[name=action]")];
const liveBox = document.querySelector("[data-live]");
const line = new LiveLine(liveBox);
const { slug } = form.dataset;
// The page has it once: without this attribute, it is what the server put into the editor.
const starter = form.dataset.starter ?? textarea.defaultValue;
let underWay = null;
let cancelWanted = false;

const mark = form.querySelector("[data-draft-mark]");
const draft = new Draft(
  {
    slug,
    starter,
    user: form.dataset.user,
    revision: Number(form.dataset.revision),
    // This is not `value`, because the reader may have typed before this module was loaded.
    source: textarea.defaultValue,
    // What the server sent back (a refused form post) is newer than any draft.
    sent: "sent" in form.dataset,
  },
  {
    mark: (text) => { mark.textContent = text; },
    text: (source) => editor.setValue(source),
    conflict: (other) => versions.showConflict(draft.source, other.source),
  },
);
const versions = new Versions(draft, (source) => {
  const before = editor.value();
  editor.setValue(source);
  return before;
});

const typed = textarea.value;
const editor = new CodeBox(form, typed === textarea.defaultValue ? draft.source : typed, {
  change: (source) => {
    draft.keep(source);
    picture?.typed(source);
  },
  run: () => grade("run"),
  submit: () => grade("submit"),
});
const pictureBox = form.querySelector("[data-picture]");
const picture = pictureBox && new LivePicture(pictureBox, {
  slug,
  starter,
  user: form.dataset.user,
  notes: (list) => editor.setNotes(list),
  jump: (line) => editor.jump(line),
});
draft.start();
if (typed !== textarea.defaultValue) {
  // Keep both the copy in this browser and what was typed before it could be shown.
  if (draft.source !== textarea.defaultValue && draft.source !== typed) draft.aside = draft.source;
  draft.keep(typed);
}
versions.showKept();

form.addEventListener("submit", (event) => {
  event.preventDefault();
  grade(isOwnInput(document.activeElement) ? "own" : event.submitter?.value ?? "run");
});

const reset = form.querySelector("[data-reset]");
reset.addEventListener("click", () => {
  reset.closest("details").open = false;
  if (editor.value() !== starter && !confirm("Replace what you typed with the starter? Undo (Ctrl-Z) restores it.")) return;
  editor.setValue(starter);
  editor.focus();
});

cancelButton.addEventListener("click", () => {
  cancelWanted = true;
  line.say("Cancelling");
  // An attempt that is still being sent has no id yet; `grade` cancels it once the server has answered.
  if (underWay !== null) cancelUnderWay();
});

async function cancelUnderWay() {
  try {
    await cancel(underWay);
  } catch (error) {
    // An attempt that finished meanwhile cannot be cancelled; its verdict is on the way.
    if (!(error instanceof GradingError)) throw error;
    cancelWanted = false;
  }
}

function setBusy(busy) {
  for (const button of buttons) button.setAttribute("aria-disabled", String(busy));
  cancelButton.hidden = !busy;
}

/** Closes the inputs, which cover the code. A fault in one of them opens them again. */
function foldOwnInputs() {
  const menu = form.querySelector("[data-own-inputs]");
  if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  menu.open = false;
}

let busy = false;
const grade = (action) => {
  if (!busy && action !== "submit") picture?.draw(editor.value());
  if (action === "own") foldOwnInputs();
  return show("Sending", () => send(slug, action, editor.value(), action === "own" ? ownInputs(form) : undefined, (words) => line.say(words)));
};
const resume = ({ underWay: id, waitedS }) => show("Grading", () => readAttempt(id), Number(waitedS));

/** Follows the attempt that `begin` resolves to, sent `waitedS` seconds ago, until it has ended; shows its verdict. */
async function show(text, begin, waitedS = 0) {
  if (busy) return;
  busy = true;
  setBusy(true);
  delete verdictBox.dataset.last;
  const before = [verdictBox, markOf("verdict")].map((box) => [box, [...box.childNodes]]);
  sayInVerdict("The verdict appears here once grading has finished.");
  const [sent, focused] = [editor.value(), document.activeElement];
  line.start(text, waitedS);
  showFaults(form);
  try {
    const attempt = await begin();
    underWay = attempt.id;
    const tell = (state) => { if (!cancelWanted) line.say(describe(state)); };
    tell(attempt);
    if (cancelWanted) cancelUnderWay();
    const ended = await follow(attempt.id, tell);
    if (ended.verdict) showVerdict(await fetchFragment(`/attempts/${ended.id}/verdict`), sent);
    else if (ended.withheld_until) sayInVerdict(`This is an exam: verdicts are hidden until ${new Date(ended.withheld_until).toLocaleString()}.`);
    else sayInVerdict("No verdict: the grading was cancelled.");
    line.stop(verdictBox.querySelector("[data-status=unwritten]") ? "Nothing written yet." : summarize(ended));
    if (ended.verdict) turnToVerdict(editor.value() === sent && document.activeElement === focused);
    if (previousBox) previousBox.replaceChildren(await fetchFragment(previousBox.dataset.previous));
    if (ended.kind === "attempt" && ended.verdict?.status === "accepted") await unlockEditorial();
  } catch (error) {
    if (error instanceof NotSignedIn) {
      for (const [box, nodes] of before) box.replaceChildren(...nodes);
      keepForLater();
    } else if (!verdictBox.querySelector(".verdict")) sayInVerdict("No verdict: see the line below the code.");
    line.stop(error instanceof GradingError ? error.message : "Something went wrong on this page; reload it. Your code is kept.");
    if (error.faults) showFaults(form, error.faults);
    if (error instanceof NotSignedIn) line.link("Sign in", `/sign-in?next=${location.pathname}`);
    if (!(error instanceof GradingError)) throw error;
  } finally {
    underWay = null;
    cancelWanted = false;
    busy = false;
    setBusy(false);
  }
}

function sayInVerdict(text) {
  const paragraph = document.createElement("p");
  paragraph.className = "soft";
  paragraph.textContent = text;
  verdictBox.replaceChildren(paragraph);
  markOf("verdict").replaceChildren();
}

const markOf = (view) => document.querySelector(`[data-mark=${view}]`);

// Keeps a guest's verdict to show it again once they have signed in, because the account cannot read a guest's runs.
const KEPT = `meshgrade:verdict:${slug}`;
let guestsVerdict = "";

function keepForLater() {
  try {
    if (guestsVerdict) sessionStorage.setItem(KEPT, guestsVerdict);
  } catch {
    // Without storage, the verdict is only on this page.
  }
}

function takeKept() {
  try {
    const html = form.dataset.user && sessionStorage.getItem(KEPT);
    if (html) sessionStorage.removeItem(KEPT);
    return html;
  } catch {
    return null;
  }
}

/** Opens the statement's pitfalls, and marks the one with this number, which the latest verdict shows. */
function markPitfall(number) {
  document.querySelector("[data-met]")?.remove();
  if (number === undefined) return;
  const pitfalls = document.getElementById("s-pitfalls");
  const item = pitfalls?.querySelectorAll(":scope > ul > li")[number - 1];
  if (!item) return;
  const note = document.createElement("span");
  note.dataset.met = "";
  note.textContent = "Your last attempt met this";
  item.append(" ", note);
  pitfalls.closest("details").open = true;
}

/** Puts a verdict into its place, and its status into the tab. */
function showVerdict(fragment, source = null) {
  if (!form.dataset.user) guestsVerdict = [...fragment.children].map((each) => each.outerHTML).join("");
  verdictBox.replaceChildren(fragment);
  const places = linkPlaces(verdictBox, (line) => {
    select("workbench");
    editor.jump(line);
  });
  // Mark lines only if the editor holds the text that was graded: in another one, other lines have these numbers.
  editor.setMarks(source === editor.value() ? places : []);
  markPitfall(verdictBox.querySelector("[data-pitfall]")?.dataset.pitfall);
  const status = verdictBox.querySelector(".verdict-head .status");
  const mark = markOf("verdict");
  mark.replaceChildren();
  if (!status) return;
  const [sign, ...words] = status.textContent.trim().split(/\s+/);
  mark.dataset.status = status.dataset.status;
  const hidden = document.createElement("span");
  hidden.className = "visually-hidden";
  hidden.textContent = words.join(" ");
  const shown = document.createElement("span");
  shown.setAttribute("aria-hidden", "true");
  shown.textContent = sign;
  mark.append(shown, hidden);
}

/** The verdict becomes the main part and, if the reader has waited for it, its headline has the focus. */
function turnToVerdict(hasWaited) {
  const headline = verdictBox.querySelector(".verdict h2");
  if (hasWaited) {
    select("verdict");
    headline.tabIndex = -1;
    headline.focus();
  } else if (isWide()) {
    select("verdict");
  } else {
    line.link("See the verdict", "#verdict");
  }
}

async function unlockEditorial() {
  const box = document.querySelector("[data-editorial]");
  if (!box) return;
  // An editorial that is open already stays open.
  const open = box.querySelector("details")?.open;
  box.replaceChildren(await fetchFragment(box.dataset.editorial));
  if (open) box.querySelector("details").open = true;
  const next = box.querySelector("[data-next]");
  if (next) line.link(`Next: ${next.textContent}`, next.href);
  markOf("editorial").replaceChildren(document.querySelector("[data-open-mark]").content.cloneNode(true));
}

async function showLast(url) {
  // If this fails, the page still has the link to the verdict. A later attempt may have taken the box over meanwhile.
  const fragment = await fetchFragment(url).catch(() => null);
  if (fragment && !busy && verdictBox.dataset.last === url) showVerdict(fragment);
}

const kept = takeKept();
if ("underWay" in liveBox.dataset) resume(liveBox.dataset);
else if (kept) {
  showVerdict(document.createRange().createContextualFragment(kept));
  // Remove the link to a guest's run, which the account cannot read.
  verdictBox.querySelector(".verdict > p:last-child a[href^='/attempts/']")?.parentElement.remove();
}
else if ("last" in verdictBox.dataset) showLast(verdictBox.dataset.last);
picture?.begin(editor.value());

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-solutions]");
  const box = document.querySelector("[data-solutions-box]");
  if (!link || !box || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  showPart(box, link.href, "[data-solutions-part]", "Solutions");
});

// Escape and a click hide the words above Submit, as long as the pointer and the focus stay there.
const tipped = form.querySelector("[data-tipped]");
tipped.addEventListener("click", () => { tipped.dataset.dismissed = ""; });
for (const name of ["pointerleave", "focusout"]) tipped.addEventListener(name, () => { delete tipped.dataset.dismissed; });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && tipped.matches(":hover, :focus-within")) tipped.dataset.dismissed = "";
});

// `?` shows the keys, unless it is being typed as text.
const help = document.querySelector("[data-help-menu]");
document.addEventListener("click", (event) => { if (!help.contains(event.target)) help.open = false; });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && help.open) help.open = false;
  else if (event.key === "?" && !event.target.closest("input, textarea, select, [contenteditable=true]")) help.open = true;
  else return;
  help.querySelector("summary").focus();
});
