/* discreet studio: what every page does. No framework, no inline handler, nothing leaves this machine. */
"use strict";
const $ = (s, e = document) => e.querySelector(s), $$ = (s, e = document) => [...e.querySelectorAll(s)];
const data = $("#data") ? JSON.parse($("#data").textContent) : {};
const set = (e, a) => { for (const k in a) e.setAttribute(k, a[k]); };
const say = (name, text, within = document) => $$(`[data-show="${name}"]`, within).forEach(e => { if (e.textContent !== text) e.textContent = text; });
const percent = x => Math.floor(x * 100 + 1e-9) + "\u202f%";                                        // gains are rounded down,
const factor = e => "× " + (Math.ceil(Math.exp(e) * 100 - 1e-9) / 100).toFixed(2);               // promises up
const number = n => n.toLocaleString("en");
const slug = document.body.dataset.slug, drawn = "drawn" in document.body.dataset;
let revision = +document.body.dataset.revision;

/* theme: the system's unless switched; remembered */
const memory = { get: k => { try { return localStorage.getItem(k); } catch { return null; } }, set: (k, v) => { try { localStorage.setItem(k, v); } catch { /* private window */ } } };
const theme = t => { if (t === "light" || t === "dark") document.documentElement.dataset.theme = t; };
theme(memory.get("theme"));
$$("[data-theme-switch]").forEach(b => b.addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme(dark ? "light" : "dark"); memory.set("theme", dark ? "light" : "dark");
}));

/* toast: says what happened and offers the way back; also read aloud, also after the page was loaded again */
function toast(text, action, run) {
  $$(".toast").forEach(t => t.remove());
  const t = document.createElement("div"); t.className = "toast"; t.setAttribute("role", "status"); t.append(text);
  if (action) { const b = document.createElement("button"); b.textContent = action; b.addEventListener("click", () => { t.remove(); run(); }); t.append(b); }
  document.body.append(t); setTimeout(() => t.remove(), 6000);
}
const later = text => { try { sessionStorage.setItem("toast", text); } catch { /* private window */ } };
const told = (() => { try { const t = sessionStorage.getItem("toast"); sessionStorage.removeItem("toast"); return t; } catch { return null; } })();
const reload = () => location.reload();

/* what is sent: one after the other, each from the revision before it; an older page is told so and loaded again */
async function send(act, body = {}) {
  const answer = await fetch(slug && !act.startsWith("/") ? `/p/${slug}/${act}` : act, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const said = await answer.json().catch(() => ({ error: { what: "the studio did not answer", remedy: "Is it still running?" } }));
  if (said.error) { const e = new Error(said.error.what); e.told = said.error; e.old = answer.status === 409; throw e; }
  return said;
}
let queue = Promise.resolve();
const sorry = e => { const t = e.told ? `${e.told.what}. ${e.told.remedy || ""}` : "The studio does not answer. Is it still running?"; if (e.old) { later(t); reload(); } else toast(t[0].toUpperCase() + t.slice(1)); };
function change(key, value, what, again) {
  queue = queue.then(() => send("change", { revision, key, value })).then(s => {
    const moved = s.revision !== revision; revision = s.revision; say("when", s.when); buttons(s);
    if (!moved) return;
    if (again) { later(what); reload(); } else toast(what, "Undo", undo);
  }).catch(sorry);
  return queue;
}
const buttons = s => { $$("[data-undo]").forEach(b => { b.disabled = !s.undo; }); $$("[data-redo]").forEach(b => { b.disabled = !s.redo; }); };
const step = act => { queue = queue.then(() => send(act, { revision })).then(() => { later(act === "undo" ? "Undone." : "Done again."); reload(); }).catch(sorry); };
const undo = () => step("undo"), redo = () => step("redo");
$$("[data-undo]").forEach(b => b.addEventListener("click", undo)); $$("[data-redo]").forEach(b => b.addEventListener("click", redo));
addEventListener("keydown", e => {
  if (!slug || drawn || !(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== "z" || /^(text|number)$/.test(e.target.type)) return;
  e.preventDefault(); (e.shiftKey ? redo : undo)();
});
if (told) toast(told, slug && !drawn && !/^(Undone|Done again)/.test(told) && $("[data-undo]:not(:disabled)") ? "Undo" : null, undo);

/* decisions that are one control */
$$("[data-choice]").forEach(c => c.addEventListener("change", () => change(c.dataset.choice, "coded" in c.dataset ? JSON.parse(c.value) : c.value, "Saved.", true)));
$$("[data-role]").forEach(c => c.addEventListener("change", () => change("role", { column: JSON.parse(c.dataset.role), role: c.value }, `${JSON.parse(c.dataset.role).slice(0, 60)}: ${c.parentNode.textContent.trim().toLowerCase()}.`, true)));
$$("[data-read]").forEach(c => c.addEventListener("change", () => change("read", { warning: c.dataset.read, read: c.checked }, c.checked ? "Read." : "To be read again.", true)));
$$("[data-repeat]").forEach(c => c.addEventListener("change", () => change("repeat", c.checked, c.checked ? "One more draw, counted as one more." : "Saved.", true)));
$$("[data-notion]").forEach(c => c.addEventListener("change", () => change("notion", c.value, "Another kind of promise.", true)));
$$("[data-sees]").forEach(c => c.addEventListener("change", () => change("sees_secret", c.value === "sx", c.value === "sx" ? "The rules read the secret as well." : "The rules read the released columns only.", true)));
$$("[data-go]").forEach(b => b.addEventListener("click", () => { queue = queue.then(() => send("reach", { step: +b.dataset.go })).then(s => { location.href = s.go; }).catch(sorry); }));
$$("[data-act]").forEach(b => b.addEventListener("click", () => send(b.dataset.act, { revision }).then(s => { location.href = s.go; }).catch(sorry)));
$$("[data-post]").forEach(b => b.addEventListener("click", () => { b.disabled = true; send(b.dataset.post).then(s => { location.href = s.go; }).catch(sorry); }));
$$("[data-again]").forEach(b => b.addEventListener("click", () => send("again", { task: b.dataset.again }).then(reload).catch(sorry)));
$$("[data-open]").forEach(b => b.addEventListener("click", () => $(b.dataset.open).showModal()));
if ($("#answer")) {
  $("#answer").addEventListener("change", e => { $("[data-draw]").disabled = !e.target.checked; });
  $("#sure").addEventListener("close", () => { if ($("#sure").returnValue === "yes") send("draw", { revision, sure: true }).then(reload).catch(sorry); });
}

/* work under way: solid is found, hatched still possible; never a spinner alone */
function watch(box, then = reload) {
  let met = box.dataset.working === "curve" ? +$("[data-done]").dataset.done : 0, wait = 250;
  const show = t => {
    const n = t.news || {};
    say("stage", n.stage ? n.stage + (n.records ? `, ${number(n.records)} rows` : "") : "Starting", box);
    say("spent", n.limit ? `${Math.round(t.seconds)} s of ${n.limit} s` : `${Math.round(t.seconds)} s`, box);
    const found = n.found ?? (n.total ? n.done / n.total : null), possible = n.bound ?? null;
    if (found !== null) set($("[data-found]", box), { width: 100 * Math.max(0, Math.min(1, found)) + "%" });
    if (possible !== null && n.found !== undefined) {
      $("[data-legend]", box).hidden = false; say("found", percent(n.found), box); say("possible", (Math.ceil(possible * 1000) / 10).toFixed(1) + "\u202f%", box);
      set($("[data-possible]", box), { x: 100 * n.found + "%", width: 100 * Math.max(0, possible - n.found) + "%" });
    }
  };
  const ask = async () => {
    let t;
    try { t = await (await fetch(`/p/${slug}/news?task=${box.dataset.working}&from=${met}`)).json(); } catch { setTimeout(ask, 2000); return; }
    if (t.new && t.new.length) { met += t.new.length; document.dispatchEvent(new CustomEvent("points", { detail: { task: box.dataset.working, points: t.new, news: t.news } })); }
    if (t.state === "waiting" || t.state === "running") { show(t); wait = Math.min(1000, wait * 1.15); setTimeout(ask, wait); return; }
    then(t);
  };
  setTimeout(ask, 120);
}
const stoppable = box => $$("[data-stop]", box).forEach(b => b.addEventListener("click", () => { b.disabled = true; send("stop", { task: box.dataset.working }).catch(sorry); }));
$$("[data-working]").forEach(box => { stoppable(box); if ("reload" in box.dataset) watch(box); });

/* a part of the page that is computed beside the rest: shown anew when it is there, without a jump of the others */
const parts = { told: () => {} };
async function part(name) {
  const next = $(`[data-part=${name}]`, new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html")), box = $(`[data-part=${name}]`);
  if (!next || !box) return;
  box.replaceWith(next); if (next.dataset.told) { Object.assign(data, JSON.parse(next.dataset.told)); parts.told(); }
  follow(next);
}
function follow(box) { if (box.dataset.working) { stoppable(box); watch(box, () => { if (box.isConnected) part(box.dataset.part).catch(() => {}); }); } }
$$("[data-part][data-working]").forEach(box => watch(box, () => { if (box.isConnected) part(box.dataset.part).catch(() => {}); }));

/* the way stays open on wide screens, folds on narrow ones */
const wide = matchMedia("(min-width: 60.01rem)"), fold = () => $$(".way details").forEach(d => { d.open = wide.matches; }); wide.addEventListener("change", fold); fold();
/* a table that moves sideways can be reached and moved by keyboard; one that fits is no stop for Tab */
const reachable = () => $$(".scroll").forEach((e, i) => { if (e.scrollWidth > e.clientWidth + 1) set(e, { tabindex: 0, role: "region", "aria-label": `Table ${i + 1}, moves sideways` }); else ["tabindex", "role", "aria-label"].forEach(a => e.removeAttribute(a)); });
addEventListener("resize", reachable); reachable();

/* drawer: tabs and copy; two views of one picture */
$$(".drawer").forEach(d => {
  const tabs = $$("[role=tab]", d);
  const show = t => { tabs.forEach(x => { x.setAttribute("aria-selected", x === t); x.tabIndex = x === t ? 0 : -1; }); $$("[data-pane]", d).forEach(p => { p.hidden = p.dataset.pane !== t.dataset.tab; }); };
  tabs.forEach((t, i) => { t.addEventListener("click", () => show(t)); t.addEventListener("keydown", e => { const s = { ArrowRight: 1, ArrowLeft: -1 }[e.key]; if (s) { const n = tabs[(i + s + tabs.length) % tabs.length]; n.focus(); show(n); } }); });
  $("[data-copy]", d).addEventListener("click", () => { const p = $$("[data-pane]", d).find(x => !x.hidden); navigator.clipboard?.writeText(p.textContent); toast("Copied."); });
});
$$("[data-view]").forEach(b => b.addEventListener("click", () => { $$("[data-view]", b.parentNode).forEach(x => { x.setAttribute("aria-pressed", x === b); $(x.dataset.view).hidden = x !== b; }); reachable(); }));

/* begin: choose or drop a file */
if ($("#file")) {
  const give = async file => {
    if (!file) return;
    toast(`Copying ${file.name} into a project`);
    try {
      const answer = await fetch("/tables?name=" + encodeURIComponent(file.name), { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file });
      const said = await answer.json().catch(() => ({}));
      if (said.go) location.href = said.go; else toast(said.error ? `${said.error.what}. ${said.error.remedy}` : "Too large for the browser: discreet studio table.csv reads it where it lies.");
    } catch { toast("Too large for the browser: discreet studio table.csv reads it where it lies."); }
  };
  $("[data-choose]").addEventListener("click", () => $("#file").click()); $("#file").addEventListener("change", e => give(e.target.files[0]));
  const drop = $("[data-drop]"); ["dragover", "drop"].forEach(k => addEventListener(k, e => e.preventDefault()));
  drop.addEventListener("drop", e => give(e.dataTransfer.files[0]));
}
