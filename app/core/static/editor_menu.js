// The menu of the editor: how it looks, full screen, and the file as a whole. What is chosen stays in this browser.

import { formatted, GradingError } from "./grading.js";

const KEY = "meshgrade:editor";

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

const controlsIn = (box) => [...box.querySelectorAll("[data-setting]")];

const settingsIn = (box) =>
  Object.fromEntries(controlsIn(box).map((each) => [each.dataset.setting, each.type === "checkbox" ? each.checked : each.value]));

/** Sets the controls in `box` to what this browser keeps. */
export function showSettings(box) {
  const settings = read();
  for (const each of controlsIn(box)) {
    const stored = settings[each.dataset.setting];
    if (each.type === "checkbox") each.checked = stored === true;
    else if ([...each.options].some((option) => option.value === stored)) each.value = stored;
  }
}

export function storeSettings(box) {
  try {
    localStorage.setItem(KEY, JSON.stringify(settingsIn(box)));
  } catch {
    // Without storage, the choice lasts until the page is left.
  }
}

export class EditorMenu {
  #menu;
  // The elements of the code boxes and the boxes themselves. Formatting and files are of the one that was last used.
  #boxes = [];
  #workbench;
  #status;
  #code;
  #file;
  #mostBytes = 1_000_000;

  /** `code` is the code box: { value, setValue, focus, configure }. */
  constructor(form, code) {
    this.#menu = form.querySelector("[data-editor-menu]");
    this.#workbench = form.closest(".workbench");
    this.#status = form.querySelector("[data-editor-said]");
    this.#file = form.dataset.file ?? `${form.dataset.slug}.py`;
    this.#code = code;
    this.#boxes.push([form.querySelector(".editor"), code]);
    showSettings(this.#menu);
    for (const input of controlsIn(this.#menu)) {
      input.addEventListener("change", () => {
        storeSettings(this.#menu);
        this.apply();
      });
    }
    for (const button of this.#menu.querySelectorAll("[data-do]")) button.addEventListener("click", () => this.#do(button.dataset.do));
    document.addEventListener("click", (event) => { if (!this.#menu.contains(event.target)) this.#menu.open = false; });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.defaultPrevented) this.#escape(); });
    form.addEventListener("keydown", (event) => {
      if (event.code !== "KeyF" || !event.shiftKey || !event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.#format();
    }, true);
    this.#menu.hidden = false;
    this.apply();
  }

  /** Takes a second code box of the form, in its element, into the menu. */
  join(element, code) {
    this.#boxes.push([element, code]);
    for (const [each, one] of this.#boxes) each.addEventListener("focusin", () => { this.#code = one; });
    this.apply();
  }

  /** Gives the editor what is chosen. */
  apply() {
    const { size, tab, theme, wrap, vim } = settingsIn(this.#menu);
    for (const [box, code] of this.#boxes) {
      box.style.setProperty("--code-size", `${size}rem`);
      box.style.colorScheme = theme;
      code.configure({ tab: Number(tab), wrap, vim });
    }
    this.#menu.closest("form").parentElement.querySelector("[data-vim-keys]").hidden = !vim;
  }

  #say(text) {
    this.#status.textContent = text;
  }

  async #do(action) {
    this.#menu.open = false;
    this.#menu.querySelector("summary").focus();
    await { format: () => this.#format(), full: () => this.#toggleFull(), copy: () => this.#copy(), download: () => this.#download(), upload: () => this.#upload() }[action]();
  }

  async #format() {
    const before = this.#code.value();
    try {
      const { source } = await formatted(before);
      // What was typed meanwhile is newer.
      if (this.#code.value() === before && source !== before) this.#code.setValue(source);
      this.#say(source === before ? "The code is formatted already." : "Formatted. Undo restores the earlier code.");
    } catch (error) {
      if (!(error instanceof GradingError)) throw error;
      this.#say(error.message);
    }
    this.#code.focus();
  }

  #toggleFull() {
    const isFull = this.#workbench.classList.toggle("is-full");
    this.#menu.querySelector("[data-do=full]").textContent = isFull ? "Leave full screen" : "Full screen";
    this.#say(isFull ? "Full screen. Press Escape to leave it." : "Full screen is off.");
    this.#code.focus();
  }

  #escape() {
    if (this.#menu.open) {
      this.#menu.open = false;
      this.#menu.querySelector("summary").focus();
    } else if (this.#workbench.classList.contains("is-full")) this.#toggleFull();
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.#code.value());
      this.#say("Copied.");
    } catch {
      this.#say("This browser does not let the page copy text. Select the code and copy it.");
    }
  }

  #download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([this.#code.value()], { type: "text/x-python" }));
    link.download = this.#file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  #upload() {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".py,text/x-python,text/plain";
    input.addEventListener("change", async () => {
      const [file] = input.files;
      if (file.size > this.#mostBytes) return this.#say(`${file.name} is too large.`);
      this.#code.setValue((await file.text()).replaceAll("\r\n", "\n"));
      this.#say(`${file.name} is in the editor. Undo restores the earlier code.`);
      this.#code.focus();
    });
    input.click();
  }
}
