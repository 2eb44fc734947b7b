// Vim keys, for readers who switch them on.
import { Vim, vim } from "@replit/codemirror-vim";
// This is loaded anyway. Importing it keeps what the editor needs in one part, which compresses better than several.
import "./editor.js";

/** `:w` calls `onRun`, because the text is saved as it is typed. */
export function loadVim(onRun) {
  Vim.defineEx("write", "w", onRun);
  // The bar at the bottom names the mode.
  return vim({ status: true });
}
