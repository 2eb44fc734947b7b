// Colours come from the custom properties of tokens.css, which cross into the shadow root: dark mode needs no script.
import { EditorView } from "@codemirror/view";

export const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", height: "100%", fontSize: "var(--code-size, 0.875rem)" },
  "&.cm-focused": { outline: "3px solid var(--focus)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", paddingBlock: "0.75rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--selection)",
  },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--match)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--focus)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--match)" },
  ".cm-panels": { backgroundColor: "var(--page)", color: "var(--ink)", borderBottom: "1px solid var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
  ".cm-button": {
    backgroundImage: "none", backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)",
  },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink)" },
  ".tok-keyword": { color: "var(--code-keyword)" },
  ".tok-string, .tok-string2": { color: "var(--code-string)" },
  ".tok-number, .tok-bool, .tok-atom": { color: "var(--code-number)" },
  ".tok-comment": { color: "var(--code-comment)", fontStyle: "italic" },
  ".tok-definition, .tok-className, .tok-typeName": { color: "var(--code-name)" },
  ".tok-meta": { color: "var(--code-keyword)" },
});
