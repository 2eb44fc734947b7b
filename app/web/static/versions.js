// Two versions of one draft: what differs, the choice between them, and the one that was not chosen.
import { drawDiff } from "./diff.js";
import { kept } from "./draft.js";

export class Versions {
  #slug;
  #panel;
  #rest;

  /** `choose(which)` ends a conflict with "mine" or "other"; `swap(source)` puts a text into the editor and returns the old one. */
  constructor(slug, { choose, swap }) {
    this.#slug = slug;
    this.#panel = document.querySelector("[data-conflict]");
    this.#rest = document.querySelector("[data-kept]");
    for (const button of this.#panel.querySelectorAll("[data-choose]")) {
      button.addEventListener("click", () => {
        this.#panel.hidden = true;
        choose(button.dataset.choose);
        this.showKept();
      });
    }
    this.#rest.querySelector("[data-swap]").addEventListener("click", () => {
      kept.save(slug, swap(kept.load(slug) ?? ""));
      this.showKept();
    });
    this.#rest.querySelector("[data-discard]").addEventListener("click", () => {
      kept.drop(slug);
      this.showKept();
    });
  }

  showConflict(mine, other) {
    drawDiff(this.#panel.querySelector("[data-diff]"), mine, other);
    this.#panel.hidden = false;
  }

  showKept() {
    const source = kept.load(this.#slug);
    this.#rest.hidden = source === null;
    this.#rest.querySelector("[data-kept-source]").textContent = source ?? "";
  }
}
