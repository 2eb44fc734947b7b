// The account's form also has the settings of the editor, which are kept in this browser.
import { showSettings, storeSettings } from "./editor_menu.js";

const form = document.querySelector("[data-preferences]");
showSettings(form);
form.addEventListener("submit", () => storeSettings(form));
