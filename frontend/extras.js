// What someone who writes in the editor needs beyond typing; loaded when it is focused for the first time.
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { keymap } from "@codemirror/view";

export const loadExtras = () => [highlightSelectionMatches(), search({ top: true }), keymap.of(searchKeymap)];
