"use strict";
// The pages work without this script. With it, a study's page follows its study, marks can be read, and pictures enlarged.

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// --- a study's page that follows its study ---------------------------------------------------------------------------------

function follow(live) {
  const state = one("[data-state]");
  const sent = new Map(all("[data-part]", live).map((part) => [part.dataset.part, part.outerHTML]));
  let version = live.dataset.version, source = null, busy = false, again = false;

  function say(words, kind) {
    state.textContent = words;
    state.className = `state ${kind}`;
    state.hidden = false;
  }

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(`${live.dataset.live}/live`);
      if (answer.status === 401) { say("The server has started anew: open the address that it printed", "off"); stop(); return; }
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      version = answer.headers.get("X-Version");
      swap(all("[data-part]", fresh));
    } catch {
      // the next event tries again
    } finally {
      busy = false;
      if (again) { again = false; refresh(); }
    }
  }

  function swap(parts) {
    const names = new Set(parts.map((part) => part.dataset.part));
    for (const gone of all("[data-part]", live)) if (!names.has(gone.dataset.part)) { sent.delete(gone.dataset.part); gone.remove(); }
    let before = null;
    for (const part of parts) {
      const name = part.dataset.part, text = part.outerHTML.replace(/(name="key" value=")[^"]*/, "$1");
      let here = one(`[data-part="${name}"]`, live);
      if ((sent.get(name) || "").replace(/(name="key" value=")[^"]*/, "$1") !== text) {
        const kept = here ? keep(here) : () => {};
        const fresh = document.importNode(part, true);
        if (here) here.replaceWith(fresh); else if (before) before.after(fresh); else live.prepend(fresh);
        sent.set(name, part.outerHTML);
        prepare(fresh);
        kept();
        if (here && name !== "pictures") fresh.classList.add("changed");
        here = fresh;
      }
      before = here;
    }
  }

  function listen() {
    if (source || document.hidden) return;
    source = new EventSource(`${live.dataset.live}/events`);
    source.addEventListener("version", (event) => { say("Live", "on"); if (event.data !== version) refresh(); });
    source.addEventListener("gone", () => { say("This study has been deleted", "off"); stop(); });
    source.onerror = () => {
      say("Not connected: trying again", "off");
      if (source && source.readyState === EventSource.CLOSED) { stop(); setTimeout(() => { refresh(); listen(); }, 3000); }
    };
  }
  function stop() { if (source) source.close(); source = null; }
  // a browser allows few connections to one server: a page that nobody sees keeps none
  document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else listen(); });
  addEventListener("pagehide", stop);
  listen();
}

// What is being typed in a part of the page, to be put back into the part that takes its place.
function keep(part) {
  const fields = all("input[id], select[id], textarea[id]", part).filter((field) => changed(field)).map((field) => [field.id, field.value]);
  const open = all("details[id]", part).filter((each) => each.open).map((each) => each.id);
  const active = part.contains(document.activeElement) ? document.activeElement : null;
  const at = active && active.id, scrolled = all(".tall", part).map((each) => each.scrollTop);
  let selection = null;
  try { selection = active && [active.selectionStart, active.selectionEnd]; } catch { /* a field without a selection */ }
  return () => {
    for (const [id, value] of fields) { const field = document.getElementById(id); if (field) field.value = value; }
    for (const id of open) { const each = document.getElementById(id); if (each) each.open = true; }
    all(".tall").forEach((each, k) => { if (scrolled[k]) each.scrollTop = scrolled[k]; });
    const field = at && document.getElementById(at);
    if (field) {
      field.focus({ preventScroll: true });
      try { if (selection && selection[0] !== null) field.setSelectionRange(...selection); } catch { /* as above */ }
    }
  };
}

function changed(field) {
  if (field.tagName === "SELECT") return all("option", field).some((each) => each.selected !== each.defaultSelected);
  return field.value !== field.defaultValue;
}

// --- forms -----------------------------------------------------------------------------------------------------------------

const WHO = "satisfice:who";
function stored(value) {
  try { if (value !== undefined) localStorage.setItem(WHO, value); return localStorage.getItem(WHO) || ""; } catch { return ""; }
}

function prepare(root) {
  for (const field of all("[data-who]", root)) {
    if (!field.value) field.value = stored();
    field.addEventListener("change", () => { stored(field.value); for (const each of all("[data-who]")) each.value = field.value; });
  }
  for (const box of all("figure .box", root)) enlargeable(box);
}

function once(event) {
  const form = event.target;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "yes";
  setTimeout(() => { for (const each of all("button", form)) each.disabled = true; });
}

function files() {
  for (const field of all("[data-into]")) {
    field.closest("[data-file]").hidden = false;
    field.addEventListener("change", async () => {
      const [file] = field.files;
      if (!file) return;
      const into = document.getElementById(field.dataset.into);
      into.value = file.size > 1500000 ? "" : await file.text();
      if (!into.value) field.setCustomValidity("The file must have at most 1,500,000 bytes, and some rows."); else field.setCustomValidity("");
      field.reportValidity();
    });
  }
}

// A button that adds a row to a form, made of a template.
function adds(button, list, blank, row) {
  const add = one(`[${button}]`);
  if (!add) return;
  add.hidden = false;
  add.addEventListener("click", () => {
    const fresh = one(`[${blank}]`).content.cloneNode(true), rows = one(`[${list}]`), count = one("[data-count]", fresh);
    if (count) count.textContent = all(`[${row}]`, rows).length + 1;
    rows.append(fresh);
    one("input", rows.lastElementChild).focus();
  });
}

// --- pictures --------------------------------------------------------------------------------------------------------------

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;

// the browser's own hint would come late and on top: a mark's title is moved into an attribute when it is first pointed at
function point(event) {
  const mark = event.target.closest && event.target.closest("svg[role=img] *");
  if (!mark || mark.tagName === "text") { tip.hidden = true; return; }
  const title = one(":scope > title", mark) || (mark.parentElement.tagName === "g" && one(":scope > title", mark.parentElement));
  if (title) { mark.dataset.tip = title.textContent; mark.setAttribute("aria-label", title.textContent); title.remove(); }
  tip.hidden = !mark.dataset.tip;
  if (tip.hidden) return;
  const host = mark.closest("dialog") || document.body;
  if (tip.parentElement !== host) host.append(tip);
  tip.textContent = mark.dataset.tip;
  const size = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - size.width - 8))}px`;
  tip.style.top = `${event.clientY + size.height + 26 > innerHeight ? event.clientY - size.height - 12 : event.clientY + 16}px`;
}

function enlargeable(box) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "enlarge";
  const title = one("h3", box.closest("figure"));
  button.textContent = "Enlarge";
  button.setAttribute("aria-label", `Enlarge: ${title ? title.textContent.trim() : "the picture"}`);
  button.addEventListener("click", () => enlarge(one("svg", box), title ? title.textContent.trim() : ""));
  box.append(button);
}

function enlarge(picture, name) {
  const dialog = document.createElement("dialog"), svg = picture.cloneNode(true);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  let view = [0, 0, width, height];
  const show = () => svg.setAttribute("viewBox", view.map((each) => each.toFixed(2)).join(" "));
  const zoom = (factor, x = 0.5, y = 0.5) => {
    const wide = Math.min(width, Math.max(width / 20, view[2] * factor)), high = wide * height / width;
    view = [view[0] + (view[2] - wide) * x, view[1] + (view[3] - high) * y, wide, high];
    view[0] = Math.max(0, Math.min(view[0], width - wide));
    view[1] = Math.max(0, Math.min(view[1], height - high));
    show();
  };
  const move = (dx, dy) => {
    view[0] = Math.max(0, Math.min(view[0] + dx * view[2], width - view[2]));
    view[1] = Math.max(0, Math.min(view[1] + dy * view[3], height - view[3]));
    show();
  };
  const head = document.createElement("div"), tools = document.createElement("div"), title = document.createElement("h2");
  head.className = "head";
  tools.className = "tools";
  title.textContent = name;
  const tool = (words, label, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = words;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
    tools.append(button);
  };
  tool("+", "Zoom in", () => zoom(0.7));
  tool("−", "Zoom out", () => zoom(1 / 0.7));
  tool("Whole", "Show the whole picture", () => { view = [0, 0, width, height]; show(); });
  tool("Close", "Close", () => dialog.close());
  head.append(title, tools);
  dialog.append(head, svg);
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 0.85 : 1 / 0.85, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }, { passive: false });
  let from = null;
  svg.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const box = svg.getBoundingClientRect();
    move((from[0] - event.clientX) / box.width, (from[1] - event.clientY) / box.height);
    from = [event.clientX, event.clientY];
  });
  svg.addEventListener("pointerup", () => { from = null; });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    if (step) { event.preventDefault(); move(...step); }
    if (event.key === "+") zoom(0.7);
    if (event.key === "-") zoom(1 / 0.7);
  });
  dialog.addEventListener("close", () => { tip.hidden = true; document.body.append(tip); dialog.remove(); });
  document.body.append(dialog);
  dialog.showModal();
}

// --- the rest --------------------------------------------------------------------------------------------------------------

function copies() {
  for (const button of all("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }
}

document.body.append(tip);
document.addEventListener("pointermove", point);
document.addEventListener("pointerdown", point);
document.addEventListener("submit", once);
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
for (const button of all("[data-print]")) { button.hidden = false; button.addEventListener("click", () => print()); }
const live = one("[data-live]");
if (live) follow(live);
prepare(document);
files();
adds("data-add", "data-parameters", "data-blank", "data-parameter");
adds("data-add-requirement", "data-requirements", "data-blank-requirement", "data-requirement");
copies();
const alert = one(".alert");
if (alert) alert.focus();
