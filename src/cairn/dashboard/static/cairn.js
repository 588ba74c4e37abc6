// Keys, live updates and small conveniences. Every page works without this file.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("scripted");

  // -- small conveniences ------------------------------------------------------------------------------------------
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
    if (event.target.matches("[data-all]")) {
      for (const box of event.target.form.querySelectorAll("[name=id]")) box.checked = event.target.checked;
    }
  });
  document.addEventListener("click", (event) => {
    const copier = event.target.closest("[data-copy]");
    if (copier) navigator.clipboard.writeText(copier.dataset.copy).then(() => { copier.textContent = "Copied"; });
    if (event.target.closest("[data-show-new]")) document.getElementById("list").focus({ preventScroll: true }); // the button goes
  });

  // -- keys --------------------------------------------------------------------------------------------------------
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const current = () => document.querySelector("[data-row].at");
  function move(step) {
    const all = rows();
    if (!all.length) return;
    const next = all[Math.min(all.length - 1, Math.max(0, all.indexOf(current()) + step))];
    current()?.classList.remove("at");
    next.classList.add("at");
    next.querySelector("a")?.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  function press(action) {
    const row = current();
    const boxes = [...document.querySelectorAll("[name=id]:checked")];
    if (!boxes.length) row?.querySelectorAll("[name=id]").forEach((box) => { box.checked = true; });
    document.querySelector(`[data-action="${action}"]`)?.click();
  }
  const single = {
    "/": () => document.querySelector('[data-key="/"]')?.focus(),
    "?": () => document.getElementById("keys").showModal(),
    j: () => move(1),
    k: () => move(-1),
    o: () => current()?.querySelector("a")?.click(),
    x: () => current()?.querySelector("[name=id]")?.click(),
    e: () => document.querySelector('[data-action="edit"]')?.click(),
    p: () => document.getElementById("preview")?.focus(),
    y: () => press("keep"),
    a: () => press("archive"),
    d: () => press("delete"),
    u: () => document.querySelector('[data-action="undo"]')?.click(),
  };
  const off = document.getElementById("keys-off");
  if (off) {
    off.checked = localStorage.getItem("keys-off") === "1";
    off.addEventListener("change", () => localStorage.setItem("keys-off", off.checked ? "1" : "0"));
  }
  let going = false;
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select, [contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey || (off?.checked && event.key !== "?")) return;
    if (typing || document.querySelector("dialog[open]")) {
      if (event.key === "Escape" && typing) event.target.blur();
      return;
    }
    if (going) {
      going = false;
      document.querySelector(`[data-go="${CSS.escape(event.key)}"]`)?.click();
    } else if (event.key === "g") {
      going = true;
      setTimeout(() => { going = false; }, 1500);
    } else if (single[event.key]) {
      event.preventDefault();
      single[event.key]();
    }
  });

  // -- live: one stream for all tabs of this browser; it says what kind of thing changed, and the page loads again -----
  const dot = document.getElementById("live-dot");
  if (!dot || !document.body.dataset.events) return;
  const channel = new BroadcastChannel(document.body.dataset.events);
  let wasLive = false;
  let silence;
  function setLive(isOn) {
    dot.classList.toggle("on", isOn);
    dot.setAttribute("aria-label", isOn ? "live" : "not live");
    clearTimeout(silence);
    if (isOn) say("");
    else if (wasLive) silence = setTimeout(() => say("Cairn does not answer. What you typed stays here; run `cairn ui`."), 1000);
    wasLive ||= isOn;
  }
  // Says above the page that Cairn does not answer. Until it does, no form is sent: what was typed would be lost.
  function say(text) {
    let note = document.getElementById("away");
    if (!text) { note?.remove(); return; }
    if (!note) {
      note = document.createElement("p");
      note.id = "away";
      note.className = "note bad";
      note.setAttribute("role", "alert");
      document.getElementById("main").prepend(note);
    }
    note.textContent = text;
  }
  document.addEventListener("submit", async (event) => {
    const { target, submitter } = event;
    if (target.method !== "post" || !document.getElementById("away")) return;
    event.preventDefault();
    try {
      await fetch(document.querySelector("link[rel=icon]").href, { method: "HEAD", cache: "no-store" });
      say("");
      target.requestSubmit(submitter);
    } catch {
      say("Not sent: Cairn does not answer. What you typed here stays; run `cairn ui`, and try again.");
    }
  });
  function changed(kind) {
    for (const part of document.querySelectorAll(`[data-live="${CSS.escape(kind)}"]`)) refresh(part);
  }
  const loaded = new Map(); // when each part was loaded last, so that busy agents do not have it loaded all the time
  const due = new Map();
  function refresh(part) {
    clearTimeout(due.get(part.id));
    due.set(part.id, setTimeout(() => {
      loaded.set(part.id, Date.now());
      htmx.trigger(part, "cairn");
    }, Math.max(0, (loaded.get(part.id) ?? 0) + 500 - Date.now())));
  }
  function hear(message) {
    if (message.live !== undefined) setLive(message.live);
    if (message.kind) changed(message.kind);
  }
  let source; // of the tab that listens for all
  channel.onmessage = (event) => {
    if (event.data.hello && source) channel.postMessage({ live: source.readyState === EventSource.OPEN });
    hear(event.data);
  };
  const tell = (message) => { channel.postMessage(message); hear(message); };
  function listen() {
    source = new EventSource(document.body.dataset.events);
    source.onopen = () => tell({ live: true });
    source.onerror = () => {
      tell({ live: false });
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 5000); // refused: the browser does not try again
    };
    source.addEventListener("changed", (event) => tell({ kind: event.data }));
    source.addEventListener("signed-out", () => { source.close(); tell({ live: false }); location.reload(); });
  }
  channel.postMessage({ hello: true });
  navigator.locks?.request(`cairn-events ${document.body.dataset.events}`, () => new Promise(listen));
})();
