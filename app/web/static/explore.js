// The form of the Explorer: the editor takes the place of the first text area.
import { CodeBox } from "./code_box.js";

const form = document.querySelector("[data-explore]");
if (form) {
  const send = () => form.requestSubmit();
  document.querySelector("[data-shortcuts]").hidden = false;
  new CodeBox(form, form.querySelector("textarea").value, { change() {}, run: send, submit: send });
}
