// Colours come from the custom properties of tokens.css, which cross into the shadow root: dark mode needs no script.
import { EditorView } from "@codemirror/view";

export const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", height: "100%", fontSize: "calc(var(--code-size, var(--text-code)) * var(--code-scale, 1))" },
  // Draw it above the gutters, which would cover an outline.
  "&.cm-focused": { outline: "none" },
  "&.cm-focused::after": {
    content: "''", position: "absolute", inset: "0", zIndex: "300", border: "2px solid var(--focus)", pointerEvents: "none",
  },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", paddingBlock: "0.5rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--selection)",
  },
  // Reserve the width of the folding arrows, which are loaded later, so that the text does not move then.
  ".cm-gutters:not(:has(.cm-foldGutter))": { paddingLeft: "1rem" },
  ".cm-foldGutter": { width: "1rem" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sunken)", color: "var(--ink-soft)", border: "1px solid var(--line)" },
  ".cm-marked": { backgroundColor: "var(--bad-soft)" },
  ".cm-marked-number": { backgroundColor: "var(--bad-soft)", color: "var(--bad)", fontWeight: "700" },
  ".cm-gutters-after": { borderRight: "0", borderLeft: "0", paddingLeft: "0 !important" },
  ".cm-notes": { maxWidth: "min(12rem, 40vw)", overflow: "hidden", fontSize: "var(--text-xs)", fontFamily: "var(--sans)" },
  ".cm-notes .cm-gutterElement": {
    overflow: "hidden", paddingInline: "0.5rem", color: "var(--accent)", textOverflow: "ellipsis", whiteSpace: "nowrap",
  },
  // On a phone, the code needs the width. The picture below it leads to the same lines.
  "@media (max-width: 40rem)": { ".cm-notes": { display: "none" } },
  ".cm-lit": { backgroundColor: "var(--selection)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(36rem, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)", color: "var(--accent-ink)",
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.8" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
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
