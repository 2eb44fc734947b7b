// A file of a package: the editor takes the place of the text area.
import { CodeBox } from "./code_box.js";

const form = document.querySelector(".file-editor form");
document.querySelector("[data-shortcuts]").hidden = false;
const save = () => form.requestSubmit();
new CodeBox(form, form.querySelector(".editor textarea").value, { change() {}, run() {}, submit: save });
