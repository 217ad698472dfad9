"use strict";
// Daylight or dark, copy buttons, folds that an address points into, and the filters of the catalogue.
const shade = (value) => { document.documentElement.style.colorScheme = value; };
const kept = () => { try { return localStorage.getItem("shade"); } catch { return null; } };
shade(kept() || "");
const dark = () => (document.documentElement.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

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

function theme() {
  const button = document.getElementById("theme");
  const say = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    shade(dark() ? "light" : "dark");
    try { localStorage.setItem("shade", dark() ? "dark" : "light"); } catch { /* the page keeps it */ }
    say();
  });
  say();
}

// An address that names a fold opens it, with all around it.
function unfold() {
  const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let x = found; x; x = x.parentElement) if (x.tagName === "DETAILS") x.open = true;
  if (found) found.scrollIntoView();
}

function filters() {
  const form = document.getElementById("filters");
  if (!form) return;
  const rows = [...document.querySelectorAll("#catalogue tbody tr")];
  const given = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) if (field.name && given.has(field.name)) field.value = given.get(field.name);
  const apply = () => {
    const wanted = new FormData(form);
    const words = (wanted.get("text") || "").toLowerCase().split(/\s+/);
    const any = [...wanted].filter(([, value]) => value);
    let count = 0;
    for (const row of rows) {
      const good = ["vendor", "operation", "evidence"].every((x) => !wanted.get(x) || row.dataset[x] === wanted.get(x))
        && (!wanted.get("format") || row.dataset.format.split(" ").includes(wanted.get("format")))
        && words.every((word) => row.dataset.text.toLowerCase().includes(word));
      row.hidden = !good;
      count += good;
    }
    for (const fold of document.querySelectorAll("#catalogue details")) {
      fold.hidden = !fold.querySelector("tbody tr:not([hidden])");
      fold.open = any.length > 0 && !fold.hidden;
    }
    document.getElementById("shown").textContent = `${count} of ${rows.length} designs`;
    history.replaceState(null, "", any.length ? `#${new URLSearchParams(any)}` : location.pathname);
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
}

// Compressed files come as scripts, because pages from the disk may load nothing else.
const files = {};
globalThis.tcformalFile = (name, text, size) => { files[name] = [text, size]; };
globalThis.tcformalOpened = async (name) => {
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
  const [text, size] = files[name];
  delete files[name];
  const worth = new Uint8Array(128);
  for (let i = 0; i < DIGITS.length; i += 1) worth[DIGITS.charCodeAt(i)] = i;
  const words = new DataView(new ArrayBuffer((text.length / 5) * 4));
  for (let i = 0, at = 0; i < text.length; at += 4) {
    let word = 0;
    for (const end = i + 5; i < end; i += 1) word = word * 85 + worth[text.charCodeAt(i)];
    words.setUint32(at, word);
  }
  const raw = new Uint8Array(words.buffer, 0, size);
  const plain = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
};

// What the folds of a heavy page hold is read when the first of them opens.
function insides() {
  const place = document.querySelector("[data-insides]");
  if (!place) return;
  let read = null;
  const load = () => new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: place.dataset.insides, onload: done, onerror: failed });
    document.head.append(script);
  }).then(() => tcformalOpened("insides")).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  place.addEventListener("toggle", async (event) => {
    const place = event.target.querySelector(":scope > [data-inside]");
    if (!event.target.open || !place || place.firstChild) return;
    read = read || load();
    place.innerHTML = (await read)[place.dataset.inside];
  }, true);
}

addEventListener("hashchange", unfold);
document.addEventListener("DOMContentLoaded", () => { theme(); filters(); insides(); unfold(); });
