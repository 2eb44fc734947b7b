// The code editor of the problem page: CodeMirror 6, cut down to what showing and writing one Python file needs. What
// only someone who writes needs is in extras.js, which is loaded with the first focus.
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorSelection, EditorState } from "@codemirror/state";
import {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { theme } from "./theme.js";

const INDENT = 4;

/** Tab writes spaces up to the next stop or, with a selection, indents it. Escape, then Tab, leaves the editor. */
function indent(view) {
  const { state } = view;
  if (state.selection.ranges.some((range) => !range.empty)) return indentMore(view);
  view.dispatch(state.changeByRange((range) => {
    const column = range.head - state.doc.lineAt(range.head).from;
    const spaces = INDENT - (column % INDENT);
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
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

/** Where the text area had its selection and how far it was scrolled, before the editor took its place. */
function select(view, { selectionStart = 0, selectionEnd = 0, scrollTop = 0 }) {
  view.dispatch({ selection: { anchor: selectionStart, head: selectionEnd } });
  view.scrollDOM.scrollTop = scrollTop;
}

/**
 * Puts an editor into `host` and returns `{ value, setValue, focus }`.
 *
 * It lives in a shadow root because CodeMirror adopts constructed style sheets there; in a plain document it
 * writes a <style> element, which the content security policy refuses.
 */
export function createEditor(host, options) {
  const { value, label, description, onChange, onRun, onSubmit } = options;
  const extras = new Compartment();
  const root = host.attachShadow({ mode: "open", delegatesFocus: true });
  const shortcuts = [
    { key: "Mod-Enter", run: () => { onRun(); return true; } },
    { key: "Shift-Mod-Enter", run: () => { onSubmit(); return true; } },
    { key: "Tab", run: indent, shift: indentLess },
  ];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: value,
      extensions: [
        keymap.of(shortcuts),
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        typeOverSelection,
        indentUnit.of(" ".repeat(INDENT)),
        EditorState.tabSize.of(INDENT),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        pythonLanguage,
        extras.of([]),
        syntaxHighlighting(classHighlighter),
        keymap.of([...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-description": description, tabindex: "0" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) onChange(view.state.doc.toString()); }),
        theme,
      ],
    }),
  });
  select(view, options);
  host.addEventListener("focusin", async () => {
    const { loadExtras } = await import("./extras.js");
    view.dispatch({ effects: extras.reconfigure(loadExtras()) });
  }, { once: true });
  return {
    value: () => view.state.doc.toString(),
    setValue: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focus: () => view.focus(),
  };
}
