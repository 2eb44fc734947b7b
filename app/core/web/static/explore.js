// The form of the Explorer: the editor takes the place of the text area of the source.
import { CodeBox } from "./code_box.js";

const form = document.querySelector("[data-explore]");
if (form) {
  const send = () => form.requestSubmit();
  document.querySelector("[data-shortcuts]").hidden = false;
  new CodeBox(form, form.querySelector(".editor textarea").value, { change() {}, run: send, submit: send });
}
