"use strict";
// The playground: the page collects texts, the package's own Python computes, the page shows what it gives.
(() => {
  const find = (id) => document.getElementById(id);
  let python = null;
  let state = null;
  let form = null;
  let chosen = ["a", 0];
  let operands = {};

  async function start() {
    try {
      const mark = (what) => performance.mark(`tcformal ${what}`);
      mark("scripts");
      const ready = { "pyodide.asm.wasm": await tcformalOpened("pyodide.asm.wasm"), "python_stdlib.zip": await tcformalOpened("python_stdlib.zip") };
      const script = document.createElement("script");
      script.textContent = new TextDecoder().decode(await tcformalOpened("module.js"));
      document.head.append(script);
      mark("files");
      const usual = globalThis.fetch;
      // Pages from the disk may not fetch; what Pyodide asks for is here already.
      globalThis.fetch = async (what, options) => {
        const name = String(what.url || what).split("/").pop();
        if (!(name in ready)) return usual(what, options);
        const type = name.endsWith(".wasm") ? "application/wasm" : "application/zip";
        return new Response(ready[name], { headers: { "Content-Type": type } });
      };
      python = await loadPyodide({ indexURL: new URL("play/", document.baseURI).href, createPyodideModule: globalThis.tcformalModule, lockFileContents: globalThis.tcformalLock });
      globalThis.fetch = usual;
      mark("python");
      python.FS.writeFile("/tcformal.zip", await tcformalOpened("tcformal.zip"));
      python.runPython("import sys\nsys.path.insert(0, '/tcformal.zip')\nfrom tcformal.report.site.play import call");
      const called = python.globals.get("call");
      globalThis.tcformalCall = (name, value) => JSON.parse(called(name, JSON.stringify(value)));
      // Encodings of 64 bits are no numbers of this language: they stay texts between tests and Python.
      globalThis.tcformalText = (name, rest) => called(name, `{"unit": ${JSON.stringify(rest.unit)}, "rows": ${rest.rows}}`);
      mark("package");
      find("loading").hidden = true;
      find("controls").disabled = false;
      listen();
      read();
      document.body.dataset.ready = String(Math.round(performance.now()));
    } catch (error) {
      find("loading").textContent = `Python did not start: ${error.message || error}`;
      throw error;
    }
  }
  // All scripts of the page have run by then.
  document.addEventListener("DOMContentLoaded", start);

  // ------------------------------------------------------------------ the address
  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    const units = given.getAll("u").filter((x) => x);
    const list = (name, rest) => (given.has(name) ? given.get(name).split(",") : rest);
    const rest = tcformalOpening;
    state = {
      units: units.length ? units.slice(0, 2) : [...rest.units],
      a: list("a", [...rest.a]), b: list("b", [...rest.b]), c: given.get("c") || (given.has("a") ? "0" : rest.c),
      scale_a: list("sa", []), scale_b: list("sb", []),
    };
    show();
  }

  function keep() {
    const kept = new URLSearchParams();
    for (const unit of state.units) kept.append("u", unit);
    kept.set("a", state.a.join(","));
    kept.set("b", state.b.join(","));
    kept.set("c", state.c);
    if (state.scale_a.length) { kept.set("sa", state.scale_a.join(",")); kept.set("sb", state.scale_b.join(",")); }
    const plain = String(kept).replace(/%(2F|2C|3A|5E)/g, decodeURIComponent);
    history.replaceState(null, "", `#${plain}`);
  }

  // ------------------------------------------------------------------ what is shown
  function show() {
    form = tcformalCall("shape", { units: state.units });
    if (form.error) { say(form.error); return; }
    state.units = form.units;
    const first = find("first");
    if (![...first.options].some((x) => x.value === state.units[0])) first.add(new Option(state.units[0]));
    first.value = state.units[0];
    others();
    state.a = state.a.slice(0, form.k);
    state.b = state.b.slice(0, form.k);
    const body = find("operands").tBodies[0];
    body.replaceChildren();
    const rows = Math.max(state.a.length, state.b.length);
    for (let i = 0; i < rows; i += 1) {
      const row = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = i;
      row.append(head);
      for (const name of ["a", "b"]) row.insertCell().append(field(name, i));
    }
    find("more").disabled = rows >= form.k;
    find("c").value = state.c;
    scales();
    compute();
  }

  function field(name, i) {
    const input = document.createElement("input");
    input.value = state[name][i] ?? (name.startsWith("scale") ? "1" : "0");
    input.setAttribute("aria-label", `${name}[${i}]`);
    input.dataset.name = name;
    input.dataset.place = i;
    input.size = 16;
    return input;
  }

  function scales() {
    const place = find("scales");
    place.hidden = !form.scales;
    place.replaceChildren();
    for (const name of form.scales ? ["scale_a", "scale_b"] : []) {
      const line = document.createElement("p");
      line.append(`${name}: `);
      for (let i = 0; i < form.scales; i += 1) line.append(field(name, i));
      place.append(line);
    }
  }

  function others() {
    const second = find("second");
    const group = (tcformalGroups.find((x) => x.includes(state.units[0])) || []).filter((x) => x !== state.units[0]);
    const names = state.units[1] && !group.includes(state.units[1]) ? [...group, state.units[1]] : group;
    second.replaceChildren(new Option("nothing", ""), ...names.map((x) => new Option(x)));
    second.value = state.units[1] || "";
  }

  function say(text) {
    find("problem").textContent = text;
  }

  function compute() {
    keep();
    const start = performance.now();
    const found = tcformalCall("answer", state);
    say(found.error || "");
    if (found.error) return;
    operands = found.operands;
    find("said").textContent = found.said;
    find("said").className = new Set(found.results.map((x) => x.hex)).size > 1 ? "differ" : "same";
    const body = find("results");
    body.replaceChildren();
    for (const result of found.results) {
      const row = body.insertRow();
      for (const text of [result.unit, result.value, result.hex]) row.insertCell().textContent = text;
    }
    find("pictures").innerHTML = found.pictures.map((x) => `<div class="picture" tabindex="0" role="group">${x}</div>`).join("");
    find("pictures").querySelectorAll(".picture").forEach((x, i) => x.setAttribute("aria-label", `picture of ${found.results[i].unit}`));
    find("command").textContent = found.command;
    bits();
    document.body.dataset.took = String(performance.now() - start);
  }

  // ------------------------------------------------------------------ bits
  function bits() {
    const [name, i] = chosen;
    const word = (operands[name] || [])[i];
    const place = find("bits");
    if (!word) { chosen = ["c", 0]; bits(); return; }
    const label = name === "c" ? "c" : `${name}[${i}]`;
    find("bits-of").textContent = `Bits of ${label} = ${word.value} (${word.hex}), ${form.formats[name].name}`;
    if (place.dataset.label !== `${label} ${word.bits.length}`) {
      place.dataset.label = `${label} ${word.bits.length}`;
      place.replaceChildren();
      let at = 0;
      form.formats[name].fields.forEach((size, part) => {
        const group = document.createElement("span");
        group.className = "bit-field";
        for (const end = at + size; at < end; at += 1) {
          const bit = document.createElement("button");
          bit.type = "button";
          bit.dataset.bit = at;
          const what = ["sign", "exponent", "fraction"][part];
          bit.dataset.what = `${what} bit, place ${word.bits.length - 1 - at}`;
          group.append(bit);
        }
        if (size) place.append(group);
      });
    }
    place.querySelectorAll("button").forEach((bit, n) => {
      bit.textContent = word.bits[n];
      bit.setAttribute("aria-pressed", word.bits[n] === "1");
      bit.setAttribute("aria-label", `${word.bits[n]}: ${bit.dataset.what}`);
    });
  }

  function setBit(bit, value) {
    const [name, i] = chosen;
    const digits = [...operands[name][i].bits];
    if (digits[bit] === value) return;
    digits[bit] = value;
    const hex = BigInt(`0b${digits.join("")}`).toString(16).padStart(Math.ceil(digits.length / 4), "0");
    write(name, i, `0x${hex}`);
    const input = name === "c" ? find("c") : document.querySelector(`input[data-name="${name}"][data-place="${i}"]`);
    if (input) input.value = `0x${hex}`;
    compute();
  }

  function write(name, i, text) {
    if (name === "c") { state.c = text; return; }
    const rest = name.startsWith("scale") ? "1" : "0";
    while (state[name].length <= i) state[name].push(rest);
    state[name][i] = text;
  }

  // ------------------------------------------------------------------ events
  function listen() {
    find("inputs").addEventListener("submit", (event) => event.preventDefault());
    find("first").addEventListener("change", (event) => { state.units = [event.target.value]; show(); });
    find("second").addEventListener("change", (event) => { state.units = [state.units[0], event.target.value].filter((x) => x); show(); });
    find("inputs").addEventListener("input", (event) => {
      const { name, place } = event.target.dataset;
      if (event.target.id === "c") state.c = event.target.value || "0";
      else if (name) write(name, Number(place), event.target.value || "0");
      else return;
      compute();
    });
    find("inputs").addEventListener("focusin", (event) => {
      const { name, place } = event.target.dataset;
      if (name) chosen = [name, Number(place)];
      else if (event.target.id === "c") chosen = ["c", 0];
      else return;
      bits();
    });
    find("more").addEventListener("click", () => { state.a.push("0"); state.b.push("0"); show(); });
    find("random").addEventListener("click", () => {
      const seed = crypto.getRandomValues(new Uint32Array(1))[0];
      Object.assign(state, { scale_a: [], scale_b: [] }, tcformalCall("draw", { units: state.units, seed }));
      show();
    });
    find("smallest").addEventListener("click", smallest);
    find("paper").addEventListener("change", (event) => {
      const example = tcformalPapers[event.target.value];
      if (example) location.hash = new URLSearchParams([["u", example.unit], ["a", example.a.join(",")], ["b", example.b.join(",")], ["c", example.c]]);
    });
    addEventListener("hashchange", read);
    let paint = null;
    const over = (event) => {
      const bit = document.elementFromPoint(event.clientX, event.clientY)?.closest("#bits button");
      if (paint !== null && bit) setBit(Number(bit.dataset.bit), paint);
    };
    find("bits").addEventListener("pointerdown", (event) => {
      const bit = event.target.closest("button");
      if (!bit) return;
      paint = bit.textContent === "1" ? "0" : "1";
      over(event);
    });
    addEventListener("pointermove", over);
    addEventListener("pointerup", () => { paint = null; });
    addEventListener("pointercancel", () => { paint = null; });
    find("bits").addEventListener("click", (event) => {
      // By keyboard: a pointer has set the bit already.
      const bit = event.target.closest("button");
      if (bit && event.detail === 0) setBit(Number(bit.dataset.bit), bit.textContent === "1" ? "0" : "1");
    });
  }

  function smallest() {
    const leads = state.units.map((unit) => tcformalLeads[unit] || unit);
    const found = tcformalWitnesses.find((x) => leads.every((unit) => x.units.includes(unit)));
    if (!found) { say(`expected a kept witness for ${state.units.join(" and ")}, but there is none`); return; }
    const units = state.units.length === 2 ? state.units : [state.units[0], found.units.find((x) => x !== leads[0])];
    const made = { units, a: [], b: [], c: "0", scale_a: [], scale_b: [] };
    state = made;
    for (const [place, code] of Object.entries(found.operands)) {
      const [, name, i] = place.match(/^(\w+?)(?:\[(\d+)\])?$/);
      write(name, Number(i || 0), code);
    }
    const most = Math.max(state.a.length, state.b.length, 1);
    for (const name of ["a", "b"]) while (state[name].length < most) state[name].push("0");
    show();
  }
})();
