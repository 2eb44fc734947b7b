// The code editor of the problem page: CodeMirror 6, cut down to what showing and writing one Python file needs. What
// only someone who writes needs is in extras.js, which is loaded with the first focus.
import { defaultKeymap, history, historyField, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorSelection, EditorState, Prec } from "@codemirror/state";
import {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { marks, setMarks } from "./marks.js";
import { theme } from "./theme.js";

const INDENT = 4;
// Larger histories would fill the few megabytes that a browser stores for a site.
const MOST_STORED = 500_000;

/** Tab writes spaces up to the next stop or, with a selection, indents it. Escape, then Tab, leaves the editor. */
function indent(view) {
  const { state } = view;
  if (state.selection.ranges.some((range) => !range.empty)) return indentMore(view);
  const unit = state.tabSize;
  view.dispatch(state.changeByRange((range) => {
    const column = range.head - state.doc.lineAt(range.head).from;
    const spaces = unit - (column % unit);
    return {
      changes: { from: range.head, insert: " ".repeat(spaces) },
      range: EditorSelection.cursor(range.head + spaces),
    };
  }), { scrollIntoView: true, userEvent: "input" });
  return true;
}

/**
 * Types over a selection ourselves. Chromium would keep the replaced text's colours with a style attribute, which the
 * content security policy refuses with a complaint in the console.
 */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || !event.data || view.composing || view.state.readOnly) return false;
    if (view.state.selection.ranges.every((range) => range.empty)) return false;
    event.preventDefault();
    // Extensions, such as the one that puts brackets around a selection, come first.
    const { from, to } = view.state.selection.main;
    const insert = () => view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    if (!view.state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, event.data, insert))) view.dispatch(insert());
    return true;
  },
});

const indentation = (width) => [indentUnit.of(" ".repeat(width)), EditorState.tabSize.of(width)];

/** The state of the tab before a reload, with what can be undone, if its text is the one that the editor begins with. */
function restore(key, value, extensions) {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key));
    if (stored?.doc !== value) return null;
    return EditorState.fromJSON(stored, { extensions }, { history: historyField });
  } catch {
    return null; // Storage that the browser forbids, or an entry of another release.
  }
}

function keepHistory(key, view) {
  try {
    const text = JSON.stringify(view.state.toJSON({ history: historyField }));
    if (text.length > MOST_STORED) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // Storage is full or forbidden: only undo across a reload is lost.
  }
}

/**
 * Puts an editor into `host`.
 *
 * It lives in a shadow root because CodeMirror adopts constructed style sheets there; in a plain document it
 * writes a <style> element, which the content security policy refuses.
 *
 * `selectionStart`, `selectionEnd` and `scrollTop` are those of the text area, and `historyKey` names the history.
 * `language` is `python` if it is left out, `toml`, `markdown` or, without colours, anything else.
 */
export function createEditor(host, options) {
  const { value, label, description, onChange, onRun, onSubmit, historyKey, language = "python" } = options;
  const root = host.attachShadow({ mode: "open", delegatesFocus: true });
  const [extras, width, wrapping, modes, colours] = Array.from({ length: 5 }, () => new Compartment());
  const shortcuts = [
    { key: "Mod-Enter", run: () => { onRun(); return true; } },
    { key: "Shift-Mod-Enter", run: () => { onSubmit(); return true; } },
    { key: "Tab", run: indent, shift: indentLess },
  ];
  const extensions = [
    Prec.highest(keymap.of(shortcuts.slice(0, 2))),
    modes.of([]),
    extras.of([]),
    keymap.of(shortcuts),
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    typeOverSelection,
    width.of(indentation(INDENT)),
    wrapping.of([]),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    marks,
    colours.of(language === "python" ? [pythonLanguage, syntaxHighlighting(classHighlighter)] : []),
    keymap.of([...historyKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-description": description, tabindex: "0" }),
    EditorView.updateListener.of((update) => { if (update.docChanged) onChange(view.state.doc.toString()); }),
    theme,
  ];
  const start = { anchor: options.selectionStart ?? 0, head: options.selectionEnd ?? 0 };
  const restored = restore(historyKey, value, extensions);
  const view = new EditorView({
    root,
    parent: root,
    state: restored ?? EditorState.create({ doc: value, selection: start, extensions }),
  });
  if (language === "toml" || language === "markdown") {
    import("./languages.js").then(({ highlight }) => view.dispatch({ effects: colours.reconfigure(highlight(language)) }));
  }
  let hasVim = false;
  view.scrollDOM.scrollTop = options.scrollTop ?? 0;
  addEventListener("pagehide", () => keepHistory(historyKey, view));
  host.addEventListener("focusin", async () => {
    const { loadExtras } = await import("./extras.js");
    view.dispatch({ effects: extras.reconfigure(loadExtras()) });
  }, { once: true });
  return {
    value: () => view.state.doc.toString(),
    setValue: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focus: () => view.focus(),
    /** Marks lines: a list of { line, text, kind }; earlier marks go. */
    setMarks: (list) => setMarks(view, list),
    /** Puts the cursor on a line and shows it in the middle. */
    jump(line) {
      const { from } = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
    /** `tab` is the width of an indentation, `wrap` breaks long lines, and `vim` loads Vim's keys. */
    async configure({ tab, wrap, vim }) {
      view.dispatch({
        effects: [width.reconfigure(indentation(tab)), wrapping.reconfigure(wrap ? EditorView.lineWrapping : [])],
      });
      view.requestMeasure();
      if (Boolean(vim) === hasVim) return;
      hasVim = Boolean(vim);
      const keys = vim ? (await import("./vim.js")).loadVim(onRun) : [];
      // The reader may have switched it off while it was loading.
      if (hasVim === Boolean(vim)) view.dispatch({ effects: modes.reconfigure(keys) });
    },
  };
}
