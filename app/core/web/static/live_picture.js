// Under the code: where its state lives and what its devices send, compiled when the reader runs it or stops typing.
import { fetchFragment, GradingError, ask } from "./grading.js";
import { linkPlaces } from "./places.js";

const KEY = "meshgrade:picture";
const RESTS_MS = 1500;
const ASKS_MS = 400;
const HEADERS = { "Content-Type": "application/json", Accept: "application/json" };
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

export class LivePicture {
  #box;
  #shown;
  #said;
  #live;
  #fold;
  #on;
  #timer;
  #turn = 0;
  #drawn = null;
  #kept = null;
  #waiting = null;

  /** `on` has `slug`, `starter`, `user` (empty for a guest), `notes(list)` and `jump(line)`. */
  constructor(box, on) {
    this.#box = box;
    this.#on = on;
    this.#shown = box.querySelector("[data-picture-box]");
    this.#said = box.querySelector("[data-picture-said]");
    this.#live = box.querySelector("[data-picture-live]");
    this.#fold = box.querySelector("[data-picture-fold]");
    const { live = true, folded = false } = read();
    // A guest has few runs, so theirs are drawn only when they ask for one.
    this.#live.checked = live && Boolean(on.user);
    this.#live.closest("label").hidden = !on.user;
    this.#setFolded(folded);
    this.#live.addEventListener("change", () => this.#remember());
    this.#fold.addEventListener("click", () => {
      this.#setFolded(!this.#shown.hidden);
      this.#remember();
    });
    // Nobody waits for what is still being compiled once the page is left.
    addEventListener("pagehide", () => { if (this.#waiting) this.#drop(this.#waiting); });
    box.hidden = false;
  }

  #setFolded(folded) {
    this.#shown.hidden = folded;
    this.#fold.setAttribute("aria-expanded", String(!folded));
    this.#fold.textContent = folded ? "Unfold" : "Fold";
  }

  #remember() {
    try {
      localStorage.setItem(KEY, JSON.stringify({ live: this.#live.checked, folded: this.#shown.hidden }));
    } catch {
      // Without storage, the choice lasts until the page is left.
    }
  }

  /** The picture that is kept for the starter, or else one is drawn. */
  async begin(source) {
    if (source.trim() === this.#on.starter.trim()) {
      const kept = await fetchFragment(this.#box.dataset.picture).catch(() => null);
      if (kept?.querySelector("[data-explored]")) {
        this.#drawn = source;
        this.#show(kept);
        return;
      }
    }
    if (this.#live.checked) this.draw(source);
    else if (!this.#shown.hasChildNodes()) this.#said.textContent = "Run your code to see it.";
  }

  typed(source) {
    clearTimeout(this.#timer);
    if (this.#live.checked && source !== this.#drawn) this.#timer = setTimeout(() => this.draw(source), RESTS_MS);
  }

  /** Compiles and draws `source`. A later call takes its place. */
  async draw(source) {
    clearTimeout(this.#timer);
    if (source === this.#drawn) return;
    const turn = ++this.#turn;
    this.#said.textContent = "compiling";
    try {
      const body = JSON.stringify({ source, problem: this.#on.slug });
      const { id } = await (await ask("/api/v1/explorations", { method: "POST", headers: HEADERS, body })).json();
      this.#waiting = id;
      let fragment = await fetchFragment(`/explore/${id}/picture`);
      // Empty until it has been compiled.
      while (!fragment.firstElementChild && turn === this.#turn) {
        await pause(ASKS_MS);
        fragment = await fetchFragment(`/explore/${id}/picture`);
      }
      if (turn !== this.#turn) return this.#drop(id);
      this.#waiting = null;
      // Only the newest is kept, so that they do not fill the reader's list; the starter's serves everyone.
      if (this.#kept) this.#drop(this.#kept);
      this.#kept = source.trim() === this.#on.starter.trim() ? null : id;
      this.#drawn = source;
      this.#show(fragment);
    } catch (error) {
      if (turn === this.#turn) this.#said.textContent = error instanceof GradingError ? error.message : "not drawn: reload the page.";
      if (!(error instanceof GradingError)) throw error;
    }
  }

  #drop(id) {
    ask(`/api/v1/explorations/${id}`, { method: "DELETE", headers: HEADERS, keepalive: true }).catch(() => {});
  }

  #show(fragment) {
    this.#shown.replaceChildren(fragment);
    const explored = this.#shown.querySelector("[data-explored]");
    this.#said.textContent = explored?.dataset.explored ?? "";
    linkPlaces(this.#shown, this.#on.jump);
    for (const link of this.#shown.querySelectorAll("a[href^='#line-']")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        event.stopPropagation();
        this.#on.jump(Number(link.hash.slice("#line-".length)));
      });
    }
    this.#on.notes(JSON.parse(explored?.dataset.lines ?? "[]").map(([line, text]) => ({ line, text })));
  }
}
