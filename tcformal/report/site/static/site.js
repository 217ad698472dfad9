"use strict";
// Copy buttons, and the filters of the catalogue, which are kept in the address.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const text = button.previousElementSibling.textContent;
  const said = (word) => { button.textContent = word; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
  const select = () => {
    const range = document.createRange();
    range.selectNodeContents(button.previousElementSibling);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    said(document.execCommand("copy") ? "Copied" : "Selected");
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => said("Copied"), select);
  else select();
});

function filters() {
  const form = document.getElementById("filters");
  if (!form) return;
  const rows = [...document.querySelectorAll("#catalogue tbody tr")];
  const given = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) if (field.name && given.has(field.name)) field.value = given.get(field.name);
  const apply = () => {
    const wanted = new FormData(form);
    const words = (wanted.get("text") || "").toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of rows) {
      const good = ["vendor", "operation", "evidence"].every((x) => !wanted.get(x) || row.dataset[x] === wanted.get(x))
        && (!wanted.get("format") || row.dataset.format.split(" ").includes(wanted.get("format")))
        && words.every((word) => row.dataset.text.toLowerCase().includes(word));
      row.hidden = !good;
      count += good;
    }
    document.getElementById("shown").textContent = `${count} of ${rows.length} designs`;
    const kept = new URLSearchParams([...wanted].filter(([, value]) => value));
    history.replaceState(null, "", `#${kept}`);
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
}
document.addEventListener("DOMContentLoaded", filters);
