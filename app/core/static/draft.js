// Keeps what is typed: at once in this browser, and a moment later on the server. So no error, sign-out, reload or other
// device loses it. If two versions were typed at the same time, neither replaces the other without a question.

import { pauseOf } from "./patience.js";

const WAIT_MS = 1000;
const AGAIN_MS = 15000;
// The longest body that browsers still send once the page is gone.
const KEEPALIVE_BYTES = 60000;

// Storage throws if the browser forbids it (private windows, a full disk). The page then works without a local copy.
function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

const key = (slug) => `meshgrade:draft:${slug}`;

/** Reads the copy in this browser: its text, its user, the revision it began from, and whether the server has it. */
function readCopy(slug) {
  const text = attempt(() => localStorage.getItem(key(slug)));
  if (text === null) return null;
  const copy = attempt(() => JSON.parse(text));
  return typeof copy?.source === "string" ? copy : null;
}

/** The draft of one problem in one tab. `source` is what the editor holds, and `revision` the one that it began from. */
export class Draft {
  #slug;
  #user;
  #owner;
  #starter;
  #saved;
  #texts = new Set();
  #dirty = false;
  #busy = false;
  #timer;
  #on;

  /**
   * `page` is what the server wrote: { slug, user, revision, starter, source, sent }. `on` has three functions:
   * `mark(text)` says where the text is kept, `text(source)` replaces what the editor holds, and `conflict(other)`
   * shows a version { source, revision } that was saved elsewhere; `choose` ends the conflict.
   */
  constructor(page, on) {
    this.#slug = page.slug;
    this.#user = page.user;
    this.#owner = page.user;
    this.#starter = page.starter;
    this.#on = on;
    this.revision = page.revision;
    this.source = page.source;
    this.other = null;
    this.#saved = page.sent ? null : page.source;
    if (page.sent) this.#dirty = true;
    else this.#continue(readCopy(page.slug));
  }

  /** Begins to save. The constructor does not, so that `on` may use the draft. */
  start() {
    addEventListener("storage", (event) => { if (event.key === key(this.#slug)) this.#readOtherTab(); });
    addEventListener("online", () => this.save());
    document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") this.save(); });
    if (this.other) this.#on.conflict(this.other);
    else if (this.#dirty) this.keep(this.source);
  }

  /** Keeps `source`, which the editor holds now. */
  keep(source) {
    this.source = source;
    // An unchanged starter is not a draft, because a later version of the problem may have another one.
    this.#dirty = Boolean(this.#user) && (this.revision > 0 || source !== this.#starter);
    this.#store(!this.#dirty && Boolean(this.#user));
    if (this.other) return;
    this.#on.mark(this.#dirty ? "Not saved yet" : this.#user ? "" : "Kept in this browser");
    this.#later(WAIT_MS);
  }

  /** Ends a conflict: with what the editor holds ("mine") or with the version that was saved elsewhere ("other"). */
  choose(which) {
    const { source, revision } = this.other;
    this.aside = which === "mine" ? source : this.source;
    this.other = null;
    this.revision = revision;
    this.#saved = source;
    if (which === "other") this.#adopt(source, true);
    else this.keep(this.source);
  }

  /** The version that was not chosen; it stays in this browser until it is set to null. */
  get aside() {
    return attempt(() => localStorage.getItem(this.#asideKey));
  }

  set aside(source) {
    attempt(() => (source === null ? localStorage.removeItem(this.#asideKey) : localStorage.setItem(this.#asideKey, source)));
  }

  get #asideKey() {
    return `${key(this.#slug)}:aside:${this.#owner}`;
  }

  async save() {
    clearTimeout(this.#timer);
    if (!this.#user || !this.#dirty || this.#busy || this.other) return;
    this.#busy = true;
    const source = this.source;
    try {
      await this.#send(source);
    } catch {
      this.#on.mark("Offline: kept in this browser");
      this.#later(AGAIN_MS);
    } finally {
      this.#busy = false;
    }
    // The reader has typed more meanwhile.
    if (this.#saved === source && this.source !== source) this.#later(WAIT_MS);
  }

  async #send(source) {
    const body = JSON.stringify({ source, revision: this.revision });
    this.#texts.add(source);
    const response = await fetch(`/api/v1/problems/${this.#slug}/draft`, {
      method: "PUT",
      credentials: "same-origin",
      keepalive: body.length < KEEPALIVE_BYTES,
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body,
    });
    const answer = await response.json();
    if (response.ok) {
      this.revision = answer.revision;
      this.#saved = source;
      this.#dirty = this.source !== source;
      this.#store(!this.#dirty);
      this.#on.mark(this.#dirty ? "Not saved yet" : "Saved");
    } else if (response.status === 409 && this.#texts.has(answer.draft.source)) {
      // The server has this tab's own version: the answer to that save was lost with the page or the network.
      this.revision = answer.draft.revision;
      this.#later(0);
    } else if (response.status === 409) {
      this.#differ(answer.draft);
    } else if (response.status === 401) {
      this.#on.mark("Kept in this browser; sign in to save it");
    } else {
      this.#on.mark(`Kept in this browser. ${answer.title ?? ""}`.trim());
      // Try again only if the fault may pass. A text that is too long would be refused again.
      if (response.status === 429 || response.status >= 500) this.#later(pauseOf(response) || AGAIN_MS);
    }
  }

  /** Decides what the editor begins with: what the server has, or this browser's copy. */
  #continue(copy) {
    // What somebody else typed in this browser is not this user's.
    if (!copy || (this.#user && copy.user && copy.user !== this.#user)) return;
    this.#owner = this.#user || copy.user;
    if (copy.source === this.source) return;
    if (!this.#user) {
      this.source = copy.source;
      this.revision = copy.revision;
      return;
    }
    // The server has had this copy, and has a later version by now.
    if (copy.saved && copy.revision < this.revision) return;
    if (copy.revision !== this.revision && this.revision > 0) this.other = { source: this.source, revision: this.revision };
    this.source = copy.source;
    this.#texts.add(copy.source);
    this.#dirty = true;
  }

  #readOtherTab() {
    const copy = readCopy(this.#slug);
    // Keep what was typed here and is not saved: the next save finds out whether the versions differ.
    if (!copy || copy.user !== this.#owner || this.#dirty || this.other) return;
    if (copy.saved) {
      this.revision = copy.revision;
      this.#saved = copy.source;
    }
    this.#adopt(copy.source, copy.saved);
  }

  #adopt(source, saved) {
    clearTimeout(this.#timer);
    const changed = this.source !== source;
    this.source = source;
    this.#dirty = false;
    if (changed) this.#on.text(source);
    // The editor has reported the change as if it had been typed, so take that back.
    this.#dirty = false;
    clearTimeout(this.#timer);
    if (saved) this.#store(true);
    this.#on.mark(saved ? "Saved" : "Updated from another tab");
  }

  #differ(other) {
    this.other = other;
    this.#on.mark("Changed elsewhere");
    this.#on.conflict(other);
  }

  #later(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save(), ms);
  }

  #store(saved) {
    const { source, revision } = this;
    if (!this.#user && source === this.#starter) attempt(() => localStorage.removeItem(key(this.#slug)));
    else attempt(() => localStorage.setItem(key(this.#slug), JSON.stringify({ source, user: this.#owner, revision, saved })));
  }
}
