// Two versions of one draft: what differs, the choice between them, and the one that was not chosen.

export class Versions {
  #draft;
  #panel;
  #rest;

  /** `swap(source)` puts a text into the editor and returns the one that it held. */
  constructor(draft, swap) {
    this.#draft = draft;
    this.#panel = document.querySelector("[data-conflict]");
    this.#rest = document.querySelector("[data-kept]");
    for (const button of this.#panel.querySelectorAll("[data-choose]")) {
      button.addEventListener("click", () => {
        this.#panel.hidden = true;
        draft.choose(button.dataset.choose);
        this.showKept();
      });
    }
    this.#rest.querySelector("[data-swap]").addEventListener("click", () => {
      draft.aside = swap(draft.aside ?? "");
      this.showKept();
    });
    this.#rest.querySelector("[data-discard]").addEventListener("click", () => {
      draft.aside = null;
      this.showKept();
    });
  }

  async showConflict(mine, other) {
    const { drawDiff } = await import("./diff.js");
    drawDiff(this.#panel.querySelector("[data-diff]"), mine, other);
    this.#panel.hidden = false;
    this.#panel.focus();
  }

  showKept() {
    const source = this.#draft.aside;
    this.#rest.hidden = source === null;
    this.#rest.querySelector("[data-kept-source]").textContent = source ?? "";
  }
}
