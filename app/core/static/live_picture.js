// The picture under the code: where its state lives and what its devices send. The code is compiled when the reader runs
// it or stops typing, for host CPUs and for the chip that the reader has chosen.
import { fetchFragment, GradingError, ask } from "./grading.js";
import { linkPlaces } from "./places.js";
import { showFolded, storedPicture, storePicture } from "./picture_settings.js";
import { followEvents } from "./work_events.js";

const RESTS_MS = 1500;
const ASKS_MS = 400;
const HEADERS = { "Content-Type": "application/json", Accept: "application/json" };
const isWhole = (fragment) => fragment.firstElementChild && !fragment.querySelector("[data-partial]");
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export class LivePicture {
  #box;
  #shown;
  #said;
  #live;
  #chips;
  #fold;
  #on;
  #timer;
  #turn = 0;
  #stop;
  #source = "";
  #drawn = null;
  #kept = { source: null, ids: new Map() };
  #waiting = null;

  /** `on` has `slug`, `starter`, `user` (empty for a guest), `notes(list)` and `jump(line)`. */
  constructor(box, on) {
    this.#box = box;
    this.#on = on;
    this.#shown = box.querySelector("[data-picture-box]");
    this.#said = box.querySelector("[data-picture-said]");
    this.#live = box.querySelector("[data-picture-live]");
    this.#chips = box.querySelector("[data-picture-chip]");
    this.#fold = box.querySelector("[data-picture-fold]");
    const { live = true, folded = false, chip = "" } = storedPicture();
    // A guest has few runs and so no switch: a picture is drawn only when they ask for one.
    if (this.#live) this.#live.checked = live;
    this.#setFolded(folded);
    this.#live?.addEventListener("change", () => this.#remember());
    if ([...(this.#chips?.options ?? [])].some((each) => each.value === chip)) this.#chips.value = chip;
    this.#chips?.addEventListener("change", () => {
      this.#remember();
      this.#setFolded(false);
      this.#look(this.#source);
    });
    this.#fold.addEventListener("click", () => {
      this.#setFolded(!this.#isFolded);
      this.#remember();
    });
    // Once the page is left, nobody waits for what is still being compiled.
    addEventListener("pagehide", () => { if (this.#waiting) this.#drop(this.#waiting); });
  }

  get #isLive() {
    return this.#live?.checked ?? false;
  }

  get #isFolded() {
    return this.#fold.getAttribute("aria-expanded") === "false";
  }

  #setFolded(folded) {
    showFolded(folded);
    this.#fold.setAttribute("aria-expanded", String(!folded));
    this.#fold.textContent = folded ? "Unfold" : "Fold";
  }

  #remember() {
    storePicture({ live: this.#isLive, folded: this.#isFolded, chip: this.#chip });
  }

  get #chip() {
    return this.#chips?.value ?? "";
  }

  /** Identifies what a picture shows: a source, compiled for a chip. */
  #shownBy(source) {
    return `${this.#chip}\n${source}`;
  }

  /** Shows the picture that is kept for the starter, or draws one. */
  async begin(source) {
    this.#source = source;
    if (await this.#showStarter(source)) return;
    if (this.#isLive) this.draw(source);
    else if (!this.#shown.querySelector("[data-explored]")) this.#said.textContent = "Run your code to see it.";
  }

  async #look(source) {
    if (!await this.#showStarter(source)) this.draw(source);
  }

  /** Shows the starter's picture if it is kept. Returns whether nothing has to be drawn. */
  async #showStarter(source) {
    if (source.trim() !== this.#on.starter.trim()) return false;
    const shown = this.#shownBy(source);
    const query = this.#chip && `?chip=${this.#chip}`;
    const kept = await fetchFragment(`${this.#box.dataset.picture}${query}`).catch(() => null);
    // Something else was typed or chosen meanwhile, and that is drawn instead.
    if (shown !== this.#shownBy(this.#source)) return true;
    if (!kept?.querySelector("[data-explored]")) return false;
    this.#next();
    this.#drawn = shown;
    this.#show(kept);
    return true;
  }

  typed(source) {
    this.#source = source;
    clearTimeout(this.#timer);
    if (this.#shownBy(source) === this.#drawn) this.draw(source);
    else if (this.#isLive) this.#timer = setTimeout(() => this.draw(source), RESTS_MS);
  }

  /** Compiles and draws `source`. A later call takes its place. */
  async draw(source) {
    clearTimeout(this.#timer);
    this.#source = source;
    const [shown, chip] = [this.#shownBy(source), this.#chip];
    const turn = this.#next();
    if (shown === this.#drawn) return this.#say();
    this.#said.textContent = "compiling";
    try {
      const kept = this.#kept.source === source ? this.#kept.ids.get(chip) : undefined;
      const id = kept ?? await this.#send(source, chip);
      this.#waiting = kept ? null : id;
      let fragment = await fetchFragment(`/explore/${id}/picture`);
      let hasPart = false;
      // The fragment is empty until the first mesh is known, and a part until all are.
      while (!isWhole(fragment) && turn === this.#turn) {
        if (fragment.firstElementChild) this.#showPart(fragment);
        const { signal } = this.#stop = new AbortController();
        const look = async ({ partial }) => {
          if (!partial || hasPart) return;
          hasPart = true;
          const part = await fetchFragment(`/explore/${id}/picture`).catch(() => null);
          if (part?.querySelector("[data-partial]") && !signal.aborted && this.#drawn !== shown) this.#showPart(part);
        };
        const end = await followEvents(`/api/v1/explorations/${id}`, look, { signal });
        if (turn !== this.#turn) break;
        // Where events do not get through, ask now and then.
        if (!end) await pause(ASKS_MS);
        fragment = await fetchFragment(`/explore/${id}/picture`);
      }
      if (turn !== this.#turn) return kept ?? this.#drop(id);
      this.#waiting = null;
      // Keep only the explorations of the newest source: they do not fill the reader's list, and another chip's is there
      // at once. The starter's serves everyone.
      if (source !== this.#kept.source) {
        this.#kept.ids.forEach((each) => this.#drop(each));
        this.#kept = { source, ids: new Map() };
      }
      if (source.trim() !== this.#on.starter.trim()) this.#kept.ids.set(chip, id);
      this.#drawn = shown;
      this.#show(fragment);
    } catch (error) {
      // The exploration may have been deleted in another tab. Forget it, so that it is compiled again.
      this.#kept.ids.delete(chip);
      if (turn === this.#turn) this.#said.textContent = error instanceof GradingError ? error.message : "not drawn: reload the page.";
      if (!(error instanceof GradingError)) throw error;
    }
  }

  /** Discards whatever is still being compiled. Returns the number of what comes next. */
  #next() {
    this.#stop?.abort();
    return ++this.#turn;
  }

  async #send(source, chip) {
    const body = JSON.stringify({ source, problem: this.#on.slug, ...(chip && { chip }) });
    // Without this, the answer has the whole result if the same was explored before.
    const headers = { ...HEADERS, Prefer: "return=minimal" };
    const response = await ask("/api/v1/explorations", { method: "POST", headers, body });
    return (await response.json()).id;
  }

  #drop(id) {
    ask(`/api/v1/explorations/${id}`, { method: "DELETE", headers: HEADERS, keepalive: true }).catch(() => {});
  }

  #say() {
    const explored = this.#shown.querySelector("[data-explored]");
    this.#said.textContent = explored?.dataset.explored ?? "";
    return explored;
  }

  #showPart(fragment) {
    this.#show(fragment);
    this.#said.textContent = "compiling the rest";
  }

  #show(fragment) {
    this.#shown.replaceChildren(fragment);
    const explored = this.#say();
    linkPlaces(this.#shown, this.#on.jump);
    for (const link of this.#shown.querySelectorAll("a[href^='#line-']")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        event.stopPropagation();
        this.#on.jump(Number(link.hash.slice("#line-".length)));
      });
    }
    this.#on.notes(JSON.parse(explored?.dataset.lines ?? "[]").map(([line, text, kind]) => ({ line, text, kind })));
  }
}
