// Talks to the REST interface about one attempt: send, follow, cancel, fetch what the server drew.
import { fetchPatiently } from "./patience.js";
import { followEvents } from "./work_events.js";

/** A refusal of the server or the network, in words for the reader. */
export class GradingError extends Error {}

/** The reader is not signed in, or no longer. */
export class NotSignedIn extends GradingError {}

/** Returns the answer to a request. Throws a GradingError with words for the reader if it is refused. `tell` receives what to say during a wait. */
export async function ask(url, options = {}, tell = undefined) {
  let response;
  try {
    response = await fetchPatiently(url, { credentials: "same-origin", ...options }, tell);
  } catch {
    throw new GradingError("The server cannot be reached. Your code is kept in this browser; try again in a moment.");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401) {
    throw new NotSignedIn("You are not signed in, so nothing was sent. Your code is kept in this browser: sign in, then send it again.");
  }
  const error = new GradingError([problem.title, problem.detail].filter(Boolean).join(". ") || `The server responded with ${response.status}.`);
  throw Object.assign(error, { faults: problem.faults });
}

/** Sends a submission; `action` is "run", "own" (a run with `inputs`) or "submit". Resolves to the attempt. */
export async function send(slug, action, source, inputs, tell) {
  const response = await ask(`/api/v1/problems/${slug}/${action === "submit" ? "attempts" : "runs"}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ source, inputs }),
  }, tell);
  return response.json();
}

/** Formats the code in ruff's style. Resolves to { source }. */
export async function formatted(source) {
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  return (await ask("/api/v1/format", { method: "POST", headers, body: JSON.stringify({ source }) })).json();
}

export const cancel = (id) => ask(`/api/v1/attempts/${id}`, { method: "DELETE", headers: { Accept: "application/json" } });

export const readAttempt = async (id) => (await ask(`/api/v1/attempts/${id}`, { headers: { Accept: "application/json" } })).json();

/** Fetches what the server drew at `url`, as nodes for the page. */
export async function fetchFragment(url) {
  const html = await (await ask(url, { headers: { Accept: "text/html" } })).text();
  return document.createRange().createContextualFragment(html);
}

/** Fetches the whole page at `url`, to take parts of it. */
export async function fetchPage(url) {
  return new DOMParser().parseFromString(await (await ask(url, { headers: { Accept: "application/json" } })).text(), "text/html");
}

// The phases in plain words: app/grading/attempts/phases.py.
const WORDS = Object.entries(JSON.parse(document.querySelector("[data-phases]")?.dataset.phases ?? "{}"));

function inWords(phase) {
  const [begins, words] = WORDS.find(([each]) => phase === each || phase.startsWith(`${each} `)) ?? ["", ""];
  return words + phase.slice(begins.length);
}

/** One line about an attempt that is under way. */
export function describe({ status, phase, queue }) {
  if (status === "queued") return describePlace(queue);
  return phase ? `Running: ${inWords(phase)}` : "Running";
}

// These are the words that app/grading/attempts/pages.py has for readers without scripts.
function describePlace(queue) {
  if (queue?.workers === 0) return "No worker is connected. Grading starts when one connects.";
  if (!queue?.ahead) return "Waiting for a free worker";
  const line = `Waiting: ${queue.ahead} ahead of you`;
  return queue.expected_wait_s === null ? line : `${line}, about ${queue.expected_wait_s} s`;
}

const isOver = (attempt) => attempt.status === "finished" || attempt.status === "cancelled";
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** Reports each change to `onStatus` and resolves to the finished or cancelled attempt. */
export async function follow(id, onStatus) {
  return await followEvents(`/api/v1/attempts/${id}`, onStatus, { last: "verdict" }) ?? poll(id, onStatus);
}

// Asks now and then, because some proxies do not let events through.
async function poll(id, onStatus) {
  for (;;) {
    const attempt = await readAttempt(id);
    if (isOver(attempt)) return attempt;
    onStatus(attempt);
    await pause(2000);
  }
}
